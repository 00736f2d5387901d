//! HTTP on both sides: what comes in goes out as it came, and so does the answer.
//!
//! `serve` accepts and drains, `routes` says what a path is, `exchange` takes one request through: `placing` decides what
//! is sent, `withheld` looks at the answer, `under_way` tells what was done. `upstream` is the other side (`connect` how it
//! is reached, `cause` why not), `headers` what may be passed on, `collect` and `passing` are bodies in and out, `patient` a
//! socket that does not wait for ever (`turns`: when it waits for the client; `silent`: for whom it waits since when; `files`:
//! how many there may be), `refuse` the gateway's own errors in the API's words.

mod after_reply;
mod connection_turns;
mod exchange;
mod files;
mod gateway;
mod in_flight;
mod placement;
mod response_body;
mod response_check;
mod routes;
mod serve;
mod silent;
mod timed_socket;
mod window_full;

pub use crate::options::{
    GatewayLimits, GatewayOptions, GatewayTimeouts, KeylessClients, UpstreamChoice,
};
pub use crate::upstream::UpstreamError;
pub use files::raise_open_files;
pub use gateway::{Gateway, StartError};

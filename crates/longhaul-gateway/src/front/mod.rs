//! HTTP on both sides: requests are passed on as they came, and so are responses.
//!
//! `serve` accepts and drains connections, `routes` says what a path is for, `answer` answers one request and `exchange`
//! passes it on: `placement` decides what is sent, `response_check` inspects the response (`window_full`: one that ended
//! because the window was full), `in_flight` ends the call (`call_details`: what is known of it; `response_headers`: what the client is told), and
//! `after_reply` does what follows a response.
//! `recalled` passes a request on as often as the model looks something up (`recall_exchange`), and makes one response of
//! all that come back (`recalled_stream`). `response_body` is
//! the body for the client, `timed_socket` a socket with timeouts (`connection_turns`: when it waits for the client;
//! `silent`: connections that have sent nothing yet; `files`: how many there may be). The upstream's side is in
//! `upstream/`, the gateway's own errors in `refusal.rs`.

mod after_reply;
mod answer;
mod call_details;
mod connection_turns;
mod exchange;
mod files;
mod gateway;
mod in_flight;
mod placement;
mod recall_exchange;
mod recalled;
mod recalled_stream;
mod response_body;
mod response_check;
mod response_decision;
mod response_headers;
mod routes;
mod serve;
mod silent;
mod timed_socket;
mod window_full;

pub use crate::options::{
    GatewayLimits, GatewayOptions, GatewayTimeouts, KeylessClients, SessionNames, UpstreamChoice,
};
pub use crate::upstream::UpstreamError;
pub use files::raise_open_files;
pub use gateway::{Gateway, StartError};

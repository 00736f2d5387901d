//! HTTP on both sides: what comes in goes out as it came, and so does the answer.
//!
//! `serve` accepts and drains, `routes` says what a path is, `exchange` takes one request through, `upstream` is the other
//! side, `headers` what may be passed on, `collect` and `passing` are bodies in and out, `patient` a socket that does not
//! wait for ever, `refuse` the gateway's own errors in the API's words.

mod collect;
mod exchange;
mod gateway;
mod headers;
mod meeting;
mod options;
mod passing;
mod patient;
mod refuse;
mod routes;
mod serve;
mod state;
mod upstream;

pub use gateway::{Gateway, StartError};
pub use options::{Limits, Options, Timeouts, UpstreamChoice};
pub(crate) use passing::Answer;
pub(crate) use refuse::json_answer;
pub(crate) use state::State;
pub use upstream::UpstreamError;

//! Behavior of the provider, one file per topic.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "the helpers of tests are tests too"
)]

mod server;
mod support;

mod anthropic;
mod client;
mod config;
mod errors;
mod json;
mod openai;
mod overflow;
mod recorded;
mod retry;
mod sse;
mod time;

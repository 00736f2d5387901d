//! Behaviour of the gateway, by SPEC number: bodies and lines by themselves, and the whole of it on sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may fail loudly and say what they measured"
)]

mod bodies;
mod books;
mod limits;
mod line_laws;
mod lines;
mod own;
mod pass_through;
mod policies;
mod postgres;
mod recorded;
mod secrets;
mod store_file;
mod store_laws;
mod streams;
mod support;
mod together;
mod world;

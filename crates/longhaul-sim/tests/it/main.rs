//! Behaviour of the offline world, by SPEC number.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "tests may fail loudly, read files and say what they measured"
)]

mod anything;
mod cache;
mod client;
mod manage;
mod recorded;
mod replay;
mod support;
mod thinking;
mod threads;
mod validate;
mod world;

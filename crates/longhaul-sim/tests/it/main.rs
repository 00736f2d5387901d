//! Behaviour of the offline world, by SPEC number.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may fail loudly and say what they measured"
)]

mod cache;
mod manage;
mod replay;
mod support;
mod world;

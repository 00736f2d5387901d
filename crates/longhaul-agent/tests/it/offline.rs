//! The offline model and its tour, on real folders.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may fail loudly and say what they measured"
)]

mod driving;
mod folder;
mod schema;
mod talk;
mod touring;
mod working;

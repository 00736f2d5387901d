//! Sessions on genai against the simulator, through two of genai's adapters.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may fail loudly and print what they measured"
)]

mod connections;
mod conversations;
mod example;
mod failures;
mod stage;

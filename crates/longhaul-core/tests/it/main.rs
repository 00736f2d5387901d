//! Behaviour of the core, by SPEC number.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may fail loudly and read files"
)]

mod conversation;
mod damaged;
mod format;
mod generated;
mod json;
mod lines;
mod listing;
mod prompt;
mod report;
mod scan;
mod tokens;

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
mod json;
mod lines;
mod scan;
mod tokens;

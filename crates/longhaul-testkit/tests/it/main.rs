//! The testkit held against a slow, plain reader: what it generates is what it says it generates.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests"
)]

mod big;
mod damage;
mod fixtures;
mod reader;
mod session;

//! Tests the testkit with a slow, plain reader: it generates what it claims to generate.

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

//! The library against the offline world.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of tests are tests too"
)]

#[cfg(unix)]
mod hooks;

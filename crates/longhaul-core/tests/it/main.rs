//! Behaviour of the core, by SPEC number.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may fail loudly and read files"
)]

mod audit;
mod conversation;
mod damaged;
mod facts;
mod format;
mod generated;
mod json;
mod lines;
mod local_summary;
mod loss_report;
mod report;
mod scan;
mod tokens;

//! Tests of the agent from outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "the helpers of tests are tests too"
)]
#![cfg_attr(
    windows,
    allow(
        dead_code,
        unused_imports,
        reason = "tests of what only Unix has leave their helpers behind"
    )
)]

mod agent;
mod files_and_search;
mod joined;
mod keep_alive;
mod offline;
mod permission;
mod print;
mod screen;
mod services;
mod settings;

//! Behavior of the `longhaul` binary, one file per topic.
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

mod support;

#[cfg(unix)]
mod bad_input;
mod chat;
mod chat_compactions;
mod chat_window;
mod client_and_world;
mod commands_in_docs;
mod compact;
mod config;
mod corpora;
mod counting;
mod damage;
mod deleted_results;
mod docs;
mod doctor;
#[cfg(unix)]
mod folder;
mod foreign;
mod hostile;
mod huge;
mod json;
mod logging;
mod lookup;
mod manual;
mod mcp;
mod mcp_clients;
mod models;
mod notes;
mod packages;
mod page;
#[cfg(unix)]
mod purge;
mod recall;
mod reduced_results;
mod replay;
mod repositories;
mod savings;
mod secrets;
mod serve;
mod serve_economy;
mod shared_session;
mod shots;
mod show;
mod sim;
mod streams;
mod telemetry;
mod terminal;
mod thresholds;
mod wrap;

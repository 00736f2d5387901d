//! Tests the behavior of the core, by SPEC number.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may fail loudly and read files"
)]

mod attachments;
mod audit;
mod boundary;
mod cache;
mod calibrated;
mod collapse;
mod conversation;
mod cut;
mod damaged;
mod economy;
mod engine;
mod facts;
mod forged;
mod format;
mod generated;
mod history;
mod json;
mod lines;
mod listing;
mod local_chain;
mod local_summary;
mod loss_report;
mod notes;
mod prompt;
mod reduced;
mod reduced_in_view;
mod reduced_texts;
mod report;
mod rounds;
mod scan;
mod session_file;
mod snapshot;
mod strip;
mod summary_message;
mod summary_prompt;
mod summary_read;
mod tokens;
mod undo;

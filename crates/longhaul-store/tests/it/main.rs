//! Behavior of the store, one file per topic.
#![allow(
    clippy::unwrap_used,
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

mod append;
mod archive;
mod child;
mod compaction;
mod disk_full;
mod fork;
mod kill;
mod layout;
mod lines;
mod load;
mod notes;
mod ownership;
mod processes;
mod purge;
mod resume;
mod tail;

//! The library against the offline world.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::duplicate_mod,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may fail loudly, read files and print what they measured"
)]
#![cfg_attr(
    windows,
    allow(
        dead_code,
        unused_imports,
        reason = "tests of what only Unix has leave their helpers behind"
    )
)]

mod cache_watch;
mod examples;
#[cfg(unix)]
mod hooks;
mod host;
mod memory_files;
mod normalize;
mod notes;
mod proof;
mod replay;
mod requests;
mod session;
mod system_prompt;
mod telemetry;
mod thinking;
mod tools;
mod turns;
mod warm;

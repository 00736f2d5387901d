//! The library against the offline world.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may fail loudly and read files"
)]

mod normalize;
    clippy::print_stdout,
    reason = "tests may fail loudly and print what they measured"
mod host;
mod proof;
mod replay;
mod requests;
mod cache_watch;
    reason = "tests may fail loudly"
mod memory_files;
mod system_prompt;

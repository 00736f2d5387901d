//! Decides what an LLM agent's context holds: entries as frozen bytes, what they weigh, and how near the limits are.
//!
//! **No IO here.** No clock, file system, environment, network or randomness: time, ids and texts come in as
//! arguments, so every decision can be tested, replayed and explained. Reading and writing live in
//! `longhaul-store`, the command line in `longhaul-cli`.

#![warn(clippy::missing_errors_doc)]

pub mod boundary;
pub mod cache;
pub mod collapse;
pub mod config;
pub mod economy;
pub mod engine;
pub mod facts;
pub mod figures;
mod hash;
pub mod history;
pub mod inspect;
pub mod json;
pub mod listing;
pub mod local_summary;
pub mod message;
pub mod micro;
pub mod models;
pub mod money;
pub mod normalize;
pub mod notes;
pub mod plan;
pub mod prompt;
pub mod quoting;
pub mod reduce;
pub mod rehydrate;
pub mod replay;
pub mod report;
pub mod rounds;
pub mod summary;
pub mod tokens;
pub mod transcript;
pub mod window;
pub mod xxh3;

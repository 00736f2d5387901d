//! Behavior of the offline world, by SPEC number, in process and on the wire.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may fail loudly and say what they measured"
)]

mod anything;
mod cache;
mod cache_key;
mod cache_laws;
mod client;
mod clients;
mod compaction;
mod compaction_prompts;
mod faults;
mod house;
mod manage;
mod model_agent;
mod model_answers;
mod model_folder;
mod model_limit;
mod model_manners;
mod model_misbehave;
mod model_named;
mod model_notes;
mod model_odd;
mod model_script;
mod model_summary;
mod model_talk;
mod openai;
mod recorded;
mod replay;
mod reply_forms;
mod server;
mod server_clients;
mod server_strict;
mod support;
mod thinking;
mod threads;
mod validate;
mod web_search;
mod world;
mod world_grown;

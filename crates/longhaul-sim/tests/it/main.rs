//! Behaviour of the offline world.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests may fail loudly"
)]

mod model_agent;
mod model_folder;
mod model_manners;
mod model_misbehave;
mod model_notes;
mod model_odd;
mod model_script;
mod model_summary;
mod model_talk;

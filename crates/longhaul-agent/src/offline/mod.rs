//! The model that answers when there is no key: it works on the user's own folder with the real tools.
//!
//! [`start`] runs the simulator in this process and returns what a client needs. The simulator's own model answers, in
//! the variant that does as it is told ([`model`]): it follows rules without intelligence, and says so. [`tour`] guides
//! a newcomer; `kept_cache.rs` keeps the prompt cache beside the session. Nothing leaves the machine and nothing is billed; displayed costs are what such a session would cost, so
//! they must be shown as simulated ([`ModelBackend`]).

mod kept_cache;
mod start;
pub mod tour;

pub use crate::simulated_model::{MODEL, ModelBackend};
pub use start::{OfflineOptions, OfflineServer, WritingSpeed, model, start};

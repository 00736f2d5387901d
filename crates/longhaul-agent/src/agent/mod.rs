//! The loop: a prompt, the model's turns, the calls they make, until there is nothing more to do.
//!
//! [`AgentBuilder`] puts an [`Agent`] together and opens it on a session. `worker.rs` is the loop, for sub-agents too;
//! `hands.rs` runs calls; `head.rs` makes what stands before the messages and `rehydrate.rs` what goes back into the window
//! after a compaction, with the files that `restore.rs` reads again; `session.rs` opens sessions, `assembly/` puts everything around their
//! conversations and those of sub-agents, and `switch.rs` changes them. What happens is told as
//! [`AgentEvent`](crate::event::AgentEvent)s.

pub(crate) mod account;
mod advice;
mod assembly;
mod builder;
mod detail;
mod error;
mod gate;
pub(crate) mod hands;
pub(crate) mod head;
mod listing;
pub(crate) mod nested_memory;
pub(crate) mod outlook;
pub(crate) mod recipe;
pub(crate) mod rehydrate;
pub(crate) mod restore;
mod resuming;
pub(crate) mod ring;
mod running;
mod said;
mod session;
mod sources;
mod start;
mod sub_agents;
pub(crate) mod surroundings;
mod switch;
pub(crate) mod tell;
mod words;
pub(crate) mod worker;

pub use crate::agent_kind::AgentKind;
pub use account::{Purpose, Spent};
pub use builder::AgentBuilder;
pub use error::AgentError;
pub use gate::{Gate, Judged, Lasting};
pub use head::{NoHead, Preferences};
pub use listing::{Listed, list};
pub use outlook::{HeadWeight, Look, Outlook};
pub use recipe::{Equipment, Outfit, Seat};
pub use resuming::{Copying, Instead, Resuming, WhenInUse};
pub use running::Agent;
pub use said::Said;
pub use sources::{Ask, Sources};
pub use start::Start;
pub use tell::Tell;

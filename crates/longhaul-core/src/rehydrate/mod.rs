//! What survives a compaction beside the summary (R): files, todos, plan, skills, running agents, announcements.
//!
//! The core says which files to read ([`ReadFiles::wanted`]) and turns what the host gathered into attachments under
//! their budgets ([`restore`]). Reading is the host's; so is gathering in parallel. A source that failed is left out and
//! reported, never fatal (R6).

mod agents;
mod files;
mod read_files;
mod restore;
mod skills;
mod todos;

pub use agents::{AgentState, BackgroundAgent};
pub use files::FileText;
pub use read_files::{Exclusions, ReadFile, ReadFiles};
pub use restore::{Attachment, Gathered, Plan, Restored, SaidSince, Source, restore};
pub use skills::InvokedSkill;
pub use todos::Todo;

#[cfg(test)]
mod tests;

//! Restores context beside the summary after a compaction (R): files, todos, plan, skills, running agents,
//! announcements.
//!
//! The core says which files to read ([`ReadFiles::wanted`]) and turns what the host gathered into attachments within
//! their budgets ([`restore`]). The host reads and gathers, possibly in parallel. A source that failed is left out and
//! reported, but is never fatal (R6).

mod agents;
mod files;
mod read_files;
mod restore;
mod restored_attachment;
mod skills;
mod source_result;
mod todos;

pub use agents::{AgentState, BackgroundAgent};
pub use files::FileText;
pub(crate) use files::RESTORED_TOKENS_OF_A_FILE;
pub use read_files::{MOST_RESTORED_FILES, ReadFile, ReadFiles, RestoreExclusions};
pub use restore::{CancellationWords, PlanFile, RestoreInput, RestoredContext, restore};
pub use restored_attachment::RestoredAttachment;
pub use skills::InvokedSkill;
pub use source_result::RestoreSourceResult;
pub use todos::TodoListItem;

#[cfg(test)]
mod tests;

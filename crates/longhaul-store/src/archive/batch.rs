//! What is handed to an archive: entries, which part of them leaves the view, and why.

use longhaul_core::message::Entry;

use super::item::ViewPresence;

/// Entries that leave the model's view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveBatch {
    /// The entries.
    pub entries: Vec<Entry>,
    /// Which part of the entries leaves the view.
    pub part: ArchivedPart,
    /// Why it leaves: [`ViewPresence::Cleared`] or [`ViewPresence::Summarized`].
    pub presence: ViewPresence,
}

/// The part of an entry that leaves the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchivedPart {
    /// The whole entry.
    Whole,
    /// The results of these calls.
    Results(Vec<String>),
}

/// The work was not accepted. The transcript has it: `ArchiveWriter::catch_up` archives from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotQueued {
    /// The queue is full.
    #[error("the archive is behind: too much is waiting to be written")]
    Full,
    /// The writer has ended.
    #[error("the archive is no longer written to")]
    Ended,
}

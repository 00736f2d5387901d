//! What a compaction or clearing lost, kept and put back (Y3, ruling 15): `compactMetadata.report` on the boundary.
//!
//! Every room that takes part adds its figures; here is the shape, its reading back, and its telling to people.

mod originals;
mod summary_origin;
mod tell;

pub use originals::{ArchiveOutcome, OriginalsLocation};
use serde::{Deserialize, Serialize};
pub use summary_origin::SummaryOrigin;
pub(crate) use summary_origin::dollars;

use crate::message::EntryView;

/// The loss report of one compaction or clearing. Field names are those on disk; what a reader does not know is passed over.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LossReport {
    /// The size of the view.
    pub tokens: ViewTokens,
    /// The user's messages, of the whole session.
    pub user_messages: UserMessageLoss,
    /// What the user laid down.
    pub rules: RuleLoss,
    /// Files touched in the session.
    pub files: FileLoss,
    /// Work still to be done.
    pub todos: TodoLoss,
    /// Tool results.
    pub results: ResultLoss,
    /// What else is worth a sentence.
    pub notes: Vec<String>,
}

/// The size of the view in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewTokens {
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
}

/// What became of the user's messages: `total = verbatim + shortened + omitted`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UserMessageLoss {
    /// All of the session.
    pub total: u64,
    /// In view word for word.
    pub verbatim: u64,
    /// In view with the middle cut out.
    pub shortened: u64,
    /// Not in view.
    pub omitted: u64,
}

/// What became of stated rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleLoss {
    /// All of the session.
    pub total: u64,
    /// In view word for word.
    pub verbatim: u64,
}

/// What became of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileLoss {
    /// Touched in the session.
    pub touched: u64,
    /// Put back with their content.
    pub restored: u64,
    /// Neither put back nor named, for lack of room.
    pub left_out: u64,
}

/// What became of open work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TodoLoss {
    /// Still to be done.
    pub open: u64,
    /// Of these, in view.
    pub kept: u64,
}

/// What became of tool results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResultLoss {
    /// No longer in view.
    pub cleared: u64,
    /// Of these, kept in the archive.
    pub archived: u64,
}

impl LossReport {
    /// The report that a boundary carries, full or micro.
    pub fn of_boundary(boundary: EntryView<'_>) -> Option<Self> {
        let report = boundary.object(boundary.facets.metadata).get("report")?;
        serde_json::from_slice(report).ok()
    }

    /// Whether all that the user said is still there word for word.
    pub fn keeps_every_word(&self) -> bool {
        self.user_messages.verbatim == self.user_messages.total
            && self.rules.verbatim == self.rules.total
    }
}

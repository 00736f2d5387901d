//! What a compaction or clearing lost, kept and restored (Y3, ruling 15): `compactMetadata.report` on the boundary.
//!
//! Every module that takes part adds its figures; this module defines the format, reads it back, and words it for
//! people.

mod originals;
mod summary_origin;
mod tell;

pub(crate) use originals::ArchiveOutcome;
pub use originals::OriginalsLocation;
use serde::{Deserialize, Serialize};
pub use summary_origin::SummaryOrigin;
pub(crate) use summary_origin::dollars;

use crate::message::EntryView;

/// The loss report of one compaction or clearing. The field names are those on disk; unknown fields are ignored.
///
/// ```
/// use longhaul_core::report::{LossReport, UserMessageLoss};
///
/// let mut report = LossReport::default();
/// report.user_messages = UserMessageLoss { total: 3, verbatim: 3, ..UserMessageLoss::default() };
/// assert!(report.keeps_every_word());
/// report.user_messages.total = 4;
/// assert!(!report.keeps_every_word(), "one message is no longer in view word for word");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LossReport {
    /// The size of the view.
    pub tokens: ViewTokens,
    /// The user's messages in the whole session.
    pub user_messages: UserMessageLoss,
    /// The rules that the user stated.
    pub rules: RuleLoss,
    /// Files touched in the session.
    pub files: FileLoss,
    /// Work still to be done.
    pub todos: TodoLoss,
    /// Tool results.
    pub results: ResultLoss,
    /// Further remarks, one sentence each.
    pub notes: Vec<String>,
}

/// The size of the view in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewTokens {
    /// The tokens before the compaction or clearing.
    pub before: u64,
    /// The tokens after the compaction or clearing.
    pub after: u64,
}

/// What happened to the user's messages: `total = verbatim + shortened + omitted`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UserMessageLoss {
    /// All messages of the session.
    pub total: u64,
    /// Messages that are in view word for word.
    pub verbatim: u64,
    /// Messages that are in view with the middle cut out.
    pub shortened: u64,
    /// Messages that are not in view.
    pub omitted: u64,
}

/// What happened to the rules that the user stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleLoss {
    /// All rules of the session.
    pub total: u64,
    /// Rules that are in view word for word.
    pub verbatim: u64,
}

/// What happened to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileLoss {
    /// Files touched in the session.
    pub touched: u64,
    /// Files that were restored with their content.
    pub restored: u64,
    /// Files that were left out for lack of room: not restored although they were to be, or not even named.
    pub left_out: u64,
}

/// What happened to open work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TodoLoss {
    /// Todos that are still to be done.
    pub open: u64,
    /// Open todos that are in view.
    pub kept: u64,
}

/// What happened to tool results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResultLoss {
    /// Results that are no longer in view.
    pub cleared: u64,
    /// Cleared results that are in the archive.
    pub archived: u64,
}

impl LossReport {
    /// Returns the report on a boundary, full or micro.
    pub fn of_boundary(boundary: EntryView<'_>) -> Option<Self> {
        let report = boundary.object(boundary.facets.metadata).get("report")?;
        serde_json::from_slice(report).ok()
    }

    /// Whether all of the user's messages are still in view word for word.
    pub fn keeps_every_word(&self) -> bool {
        self.user_messages.verbatim == self.user_messages.total
            && self.rules.verbatim == self.rules.total
    }

    /// Whether any of the user's messages or rules is missing from the view, not only shortened.
    pub fn misses_words(&self) -> bool {
        self.user_messages.omitted > 0 || self.rules.verbatim < self.rules.total
    }
}

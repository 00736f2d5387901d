//! The result of working on a conversation: its new, smaller form.

use longhaul_core::history::{DraftSizes, SummaryRequestOutcome};
use longhaul_core::message::Usage;

use super::conversation::CompactableConversation;
use crate::store::CompactedPrefixKind;

/// A smaller form of a whole conversation, not in use yet.
#[derive(Debug, Clone)]
pub struct CompactedDraft {
    /// How it was made.
    pub kind: CompactedPrefixKind,
    /// The conversation as it is sent from now on: no elements follow the summary if everything was summarized.
    pub conversation: CompactableConversation,
    /// How many elements of the conversation were summarized this time.
    pub summarized: usize,
    /// Tokens before the compaction.
    pub before: u64,
    /// Estimated tokens after the compaction.
    pub after: u64,
    /// The report of what was lost, as JSON.
    pub report: String,
    /// The usage of requesting the summary.
    pub usage: Option<Usage>,
    /// The outcome of requesting a summary from a model.
    pub answer: SummaryRequestOutcome,
}

impl CompactedDraft {
    /// Whether a model has written a summary that is not in the draft.
    pub(super) fn discards_summary(&self) -> bool {
        self.kind == CompactedPrefixKind::Extracted && self.answer == SummaryRequestOutcome::Summary
    }

    /// The sizes of the draft.
    pub(super) fn sizes(&self) -> DraftSizes {
        DraftSizes {
            before: self.before,
            after: self.after,
        }
    }
}

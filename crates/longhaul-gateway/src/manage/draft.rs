//! The result of working on a conversation: its new, smaller form.

use longhaul_core::history::DraftSizes;
use longhaul_core::message::Usage;
use longhaul_core::report::LossReport;

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
    /// What was lost.
    pub report: LossReport,
    /// The usage of requesting the summary.
    pub usage: Option<Usage>,
}

impl CompactedDraft {
    /// The sizes of the draft.
    pub fn sizes(&self) -> DraftSizes {
        DraftSizes {
            before: self.before,
            after: self.after,
            misses_words: self.report.misses_words(),
        }
    }
}

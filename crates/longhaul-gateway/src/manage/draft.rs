//! What comes of working on a conversation: what stands for it from now on.

use longhaul_core::history::{DraftSizes, SummaryRequestOutcome};
use longhaul_core::message::Usage;

use super::conversation::CompactableConversation;
use crate::store::CompactedPrefixKind;

/// A smaller form of a whole conversation, not in use yet.
#[derive(Debug, Clone)]
pub struct CompactedDraft {
    /// How it was made.
    pub kind: CompactedPrefixKind,
    /// The conversation as it is sent from now on: behind its summary there are no elements if everything was summarized.
    pub talk: CompactableConversation,
    /// How many elements of the conversation were summarized now.
    pub summarized: usize,
    /// Tokens before.
    pub before: u64,
    /// Tokens after, estimated.
    pub after: u64,
    /// What was lost, as JSON.
    pub report: String,
    /// What asking for it used.
    pub usage: Option<Usage>,
    /// What became of asking a model.
    pub answer: SummaryRequestOutcome,
}

impl CompactedDraft {
    /// How large it is.
    pub(super) fn sizes(&self) -> DraftSizes {
        DraftSizes {
            before: self.before,
            after: self.after,
        }
    }
}

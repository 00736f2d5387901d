//! What a call of the host came to. It is the engine's last word on an `Add`, a `Turn` or a `Compact`; whatever else happened
//! on the way is told as events.

use super::Engine;
use super::effect::Effect;
use super::event::{CompactFailure, CompactionSuccess, PreviewedSummary};
use super::input::{EffectFailure, EffectFailureKind};

/// What a call came to.
#[derive(Debug)]
pub enum CallResult {
    /// What the host added is on disk.
    Added,
    /// The model replied, and the reply is on disk.
    Replied {
        /// The uuid of its entry.
        uuid: String,
    },
    /// The conversation was compacted by hand.
    Compacted(Box<CompactionSuccess>),
    /// The summary of a compaction by hand waits for approval; nothing was changed.
    Previewed(Box<PreviewedSummary>),
    /// The call failed.
    Failed(CallFailure),
}

/// Why a call failed. The conversation is as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFailure {
    /// Something could not be written. It is kept, and goes first when writing is tried again.
    NotPersisted(String),
    /// The window is full, and nothing may be done about it (O5).
    Refused(String),
    /// The model did not answer.
    NotAnswered(EffectFailure),
    /// The compaction by hand was not made.
    NotCompacted(CompactFailure, String),
}

impl Engine {
    /// Ends the host's call.
    pub(super) fn finish_call(&mut self, result: CallResult) {
        self.outbox.push_back(Effect::Finish(result));
    }

    /// Ends the host's call, which failed.
    pub(super) fn fail_call(&mut self, failure: CallFailure) {
        self.finish_call(CallResult::Failed(failure));
    }

    /// The compaction by hand was not made.
    pub(super) fn fail_compaction(&mut self, kind: CompactFailure, message: String) {
        self.fail_call(CallFailure::NotCompacted(kind, message));
    }
}

impl EffectFailure {
    /// A failure that no other kind fits.
    pub fn other(message: impl Into<String>) -> Self {
        Self::of(EffectFailureKind::Other, message)
    }

    /// The user stopped it.
    pub fn cancelled(message: impl Into<String>) -> Self {
        Self::of(EffectFailureKind::Cancelled, message)
    }

    /// A failure of this kind, after which nobody said when to try again.
    pub fn of(kind: EffectFailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
        }
    }
}

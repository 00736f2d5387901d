//! The result of a host's call. It is the engine's last word on an `Add`, a `Turn` or a `Compact`; everything else on
//! the way is reported as events.

use super::Engine;
use super::effect::Effect;
use super::event::{CompactFailure, CompactionSuccess, PreviewedSummary};
use super::input::{EffectFailure, EffectFailureKind};

/// The result of a call.
#[derive(Debug)]
pub enum CallResult {
    /// The added entries are on disk.
    Added,
    /// The model replied, and the reply is on disk.
    Replied {
        /// The uuid of the reply's entry.
        uuid: String,
    },
    /// The manual compaction succeeded.
    Compacted(Box<CompactionSuccess>),
    /// The summary of a manual compaction waits for approval; nothing was changed.
    Previewed(Box<PreviewedSummary>),
    /// The call failed.
    Failed(CallFailure),
}

/// Why a call failed. The conversation is as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFailure {
    /// Something could not be written. It is kept, and goes first at the next attempt.
    NotPersisted(String),
    /// The window is full, and no action is allowed to change that (O5).
    Refused(String),
    /// The model did not answer.
    NotAnswered(EffectFailure),
    /// The manual compaction failed.
    NotCompacted(CompactFailure, String),
}

impl Engine {
    /// Ends the host's call.
    pub(super) fn finish_call(&mut self, result: CallResult) {
        self.outbox.push_back(Effect::Finish(result));
    }

    /// Ends the host's call with a failure.
    pub(super) fn fail_call(&mut self, failure: CallFailure) {
        self.finish_call(CallResult::Failed(failure));
    }

    /// Ends the host's call with a failed compaction.
    pub(super) fn fail_compaction(&mut self, kind: CompactFailure, message: String) {
        self.fail_call(CallFailure::NotCompacted(kind, message));
    }
}

impl EffectFailure {
    /// A failure that no other kind fits.
    pub fn other(message: impl Into<String>) -> Self {
        Self::of(EffectFailureKind::Other, message)
    }

    /// The failure that the user stopped the effect.
    pub fn cancelled(message: impl Into<String>) -> Self {
        Self::of(EffectFailureKind::Cancelled, message)
    }

    /// A failure of this kind, without a time for the next attempt.
    pub fn of(kind: EffectFailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
        }
    }
}

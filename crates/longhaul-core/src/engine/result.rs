//! The result of a host's call. It is the engine's last word on an `Add`, a `Turn` or a `Compact`; what happens on the
//! way is reported as events, and only effects in the background may follow it.

use super::event::{CompactFailure, CompactionSuccess, PreviewedSummary};
use super::input::EffectFailure;

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

/// Why a call failed. The conversation is consistent: what was done on the way (a clearing, a compaction before the
/// request) stays done.
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

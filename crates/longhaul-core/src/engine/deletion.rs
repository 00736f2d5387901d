//! A deletion from the provider's cache that was requested and not answered yet (U4). The freed tokens are known and
//! reported when the reply has measured them; the estimate is used only where the reply says nothing.

use super::event::Event;
use crate::message::Usage;
use crate::micro::MicroClearingReason;

/// The deletions requested since the last reply, and that reply's measurement.
#[derive(Debug, Default)]
pub(super) struct PendingDeletion {
    calls: Vec<String>,
    estimate: u64,
    /// Tokens that were left out according to the last reply.
    last: u64,
}

/// What a reply says about deletions.
#[derive(Debug)]
pub(super) struct DeletionReport {
    /// The deletions requested since the previous reply, and the tokens that they freed.
    pub(super) freed: Option<Event>,
    /// Whether the requested deletions are in force.
    pub(super) standing: DeletionState,
}

/// Whether results are still left out of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeletionState {
    /// The results are left out, as far as the reply says.
    Holds,
    /// The reply left out nothing of what the previous one did: the cache they were deleted from is gone.
    Over,
    /// The reply does not say, so the tokens read from the cache must tell.
    Untold,
}

impl PendingDeletion {
    /// The state of a resumed conversation whose last reply left out this many tokens.
    pub(super) fn after(last: u64) -> Self {
        Self {
            last,
            ..Self::default()
        }
    }

    /// Records that the next request asks for these results to be deleted.
    pub(super) fn ask(&mut self, calls: Vec<String>, estimate: u64) {
        self.calls.extend(calls);
        self.estimate += estimate;
    }

    /// Takes a reply's usage.
    pub(super) fn answered(&mut self, usage: &Usage) -> DeletionReport {
        let Self {
            calls,
            estimate,
            last,
        } = std::mem::take(self);
        let (saved, standing) = match usage.cache_deleted {
            Some(0) if last > 0 => (0, DeletionState::Over),
            Some(now) => (now.saturating_sub(last), DeletionState::Holds),
            None => (estimate, DeletionState::Untold),
        };
        self.last = usage.cache_deleted.unwrap_or(0);
        let freed = (!calls.is_empty()).then(|| Event::MicroCompacted {
            reason: MicroClearingReason::Cached,
            results: calls.len(),
            saved,
            calls,
        });
        DeletionReport { freed, standing }
    }
}

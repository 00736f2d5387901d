//! A deletion from the provider's cache that was asked for and not answered yet (U4). What it freed is known when the reply
//! has measured it, and is told then; the estimate only stands in where the reply says nothing.

use super::event::Event;
use crate::message::Usage;
use crate::micro::MicroClearingReason;

/// What was asked for since the last reply, and what that one measured.
#[derive(Debug, Default)]
pub(super) struct PendingDeletion {
    calls: Vec<String>,
    estimate: u64,
    /// Tokens that the last reply says were left out.
    last: u64,
}

/// What a reply tells of deletions.
#[derive(Debug)]
pub(super) struct DeletionReport {
    /// What was asked for since the reply before, and what it freed.
    pub(super) freed: Option<Event>,
    /// What is in force of what was asked for.
    pub(super) standing: DeletionState,
}

/// Whether results are still left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeletionState {
    /// They are, as far as the reply says.
    Holds,
    /// The reply left nothing out of what the one before did: the cache they were deleted from is gone.
    Over,
    /// The reply does not say: whether less was read from the cache must tell.
    Untold,
}

impl PendingDeletion {
    /// A conversation that goes on, whose last reply left out so many tokens.
    pub(super) fn after(last: u64) -> Self {
        Self {
            last,
            ..Self::default()
        }
    }

    /// The next request asks for these results to be deleted.
    pub(super) fn ask(&mut self, calls: Vec<String>, estimate: u64) {
        self.calls.extend(calls);
        self.estimate += estimate;
    }

    /// A reply is there.
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

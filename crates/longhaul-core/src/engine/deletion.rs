//! A deletion from the provider's cache that was asked for and not answered yet (U4). What it freed is known when the reply
//! has measured it, and is told then; the estimate only stands in where the reply says nothing.

use super::event::Event;
use crate::message::Usage;
use crate::micro::Reason;

/// What was asked for since the last reply.
#[derive(Debug, Default)]
pub(super) struct PendingDeletion {
    calls: Vec<String>,
    estimate: u64,
    /// Tokens that were left out before.
    before: u64,
}

impl PendingDeletion {
    /// The next request asks for these results to be deleted. `before` are the tokens that the last reply left out.
    pub(super) fn ask(&mut self, calls: Vec<String>, estimate: u64, before: u64) {
        if self.calls.is_empty() {
            self.before = before;
        }
        self.calls.extend(calls);
        self.estimate += estimate;
    }

    /// What to tell when a reply is there; nothing if nothing was asked for.
    pub(super) fn answered(&mut self, usage: &Usage) -> Option<Event> {
        let Self {
            calls,
            estimate,
            before,
        } = std::mem::take(self);
        let saved = match usage.cache_deleted {
            Some(now) => now.saturating_sub(before),
            None => estimate,
        };
        (!calls.is_empty()).then(|| Event::MicroCompacted {
            reason: Reason::Cached,
            results: calls.len(),
            saved,
            calls,
        })
    }
}

/// Whether what was deleted by reference is in the prompt again, after a reply that read clearly less from the cache: the
/// cache expired, and nothing could be left out of what was written anew.
pub(super) fn is_over(usage: &Usage) -> bool {
    usage.cache_deleted.is_none_or(|deleted| deleted == 0)
}

//! How much is in the window: what a reply measured, or an estimate of all that is sent.

use super::Engine;
use crate::prompt::RequestHead;
use crate::tokens::{Estimate, Rough};

impl Engine {
    /// Tokens in the window (T1). Without a measurement the head is estimated, too (ruling 3).
    pub(super) fn used(&self) -> u64 {
        let context = self.live.ledger().context();
        match self.live.ledger().anchor() {
            Some(_) => context.tokens(),
            None => (context.added + head_weight(&self.head)).padded(),
        }
    }

    /// The padded estimate of the live view alone: what a compaction is judged by (ruling 12).
    pub(super) fn view_size(&self) -> u64 {
        self.live.ledger().whole().padded()
    }
}

/// The estimate of what stands before the messages.
pub(super) fn head_weight(head: &RequestHead) -> Estimate {
    let context = head.user_context.as_deref().unwrap_or_default();
    [head.system.get(), head.tools.get(), context]
        .into_iter()
        .map(Rough::text)
        .sum()
}

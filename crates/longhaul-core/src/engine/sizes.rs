//! How much is in the window: a reply's measurement, or an estimate of everything that is sent.

use super::Engine;
use crate::prompt::RequestPrefix;
use crate::tokens::{Estimate, RoughEstimator};

impl Engine {
    /// Tokens in the window (T1). Without a measurement in view, the request prefix counts as replies showed before the
    /// compaction, or is estimated, too (ruling 3).
    pub(super) fn used(&self) -> u64 {
        let context = self.live.ledger().context();
        let head = prefix_weight(&self.prefix);
        match (self.live.ledger().anchor(), self.prefix_count) {
            (Some(_), _) => context.tokens(),
            (None, Some(known)) => known.of(head.padded()) + context.added.padded(),
            (None, None) => (context.added + head).padded(),
        }
    }

    /// The padded estimate of the live view alone: a compaction is judged by it (ruling 12).
    pub(super) fn view_size(&self) -> u64 {
        self.live.ledger().whole().padded()
    }
}

/// The estimate of the request prefix.
pub(super) fn prefix_weight(head: &RequestPrefix) -> Estimate {
    let context = head.user_context.as_deref().unwrap_or_default();
    [head.system.get(), head.tools.get(), context]
        .into_iter()
        .map(RoughEstimator::text)
        .sum()
}

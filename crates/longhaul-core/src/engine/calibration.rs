//! Predicts how the provider will count a view that does not exist yet (Y1).
//!
//! Where the provider counted more than was estimated, it will do so again. The request prefix stays the same, however
//! much shorter the messages become: the first measurement in view tells its size, and only the rest is scaled.
//! Otherwise a view that has room would seem to have none, and the user's words would be cut for nothing.
//!
//! Where the provider counted less than was estimated, the estimate still decides what fits: the kept part may be of
//! another kind than the removed part (images go, text stays). The gain, however, is the difference of two sizes, and
//! both are taken on the scale of the count.

use super::compaction_in_progress::CompactionInProgress;
use super::config::PrefixRecording;
use super::sizes::prefix_weight;
use super::{Engine, live::LiveConversation};
use crate::prompt::RequestPrefix;
use crate::tokens::TokenLedger;

/// Converts estimates of a view into counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CountCalibration {
    /// The count of the request prefix.
    constant: u64,
    /// The count and the estimate of the messages.
    counted: u64,
    estimated: u64,
}

impl CountCalibration {
    /// The expected count of a view with this many estimated tokens, including the request prefix.
    pub(super) fn count(self, view: u64) -> u64 {
        let tokens = u128::from(view) * u128::from(self.counted);
        let tokens = tokens.div_ceil(u128::from(self.estimated.max(1)));
        self.constant
            .saturating_add(u64::try_from(tokens).unwrap_or(u64::MAX))
    }

    /// The largest estimate of a view whose count stays below a limit; zero if there is none.
    pub(super) fn most_below(self, limit: u64) -> u64 {
        self.estimate_of(limit.saturating_sub(1).saturating_sub(self.constant))
    }

    /// The estimate of messages that are counted as this many tokens.
    pub(super) fn estimate_of(self, tokens: u64) -> u64 {
        let most =
            u128::from(tokens) * u128::from(self.estimated) / u128::from(self.counted.max(1));
        u64::try_from(most).unwrap_or(u64::MAX)
    }
}

impl Engine {
    /// Predicts the count of a compaction's new view with this request prefix.
    pub(super) fn expected(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
    ) -> CountCalibration {
        let (own, new) = (
            prefix_weight(&self.prefix).padded(),
            prefix_weight(head).padded(),
        );
        let as_estimated = |constant| CountCalibration {
            constant,
            counted: 1,
            estimated: 1,
        };
        let view = compaction.before;
        if self.config.prefixes == PrefixRecording::Unknown {
            return as_estimated(0);
        }
        let after = self.prefix_count_after(compaction, head);
        let after = after.map_or(new, |known| known.of(new));
        if compaction.used <= own + view || view == 0 {
            return as_estimated(after);
        }
        // Without a reply that tells, only the estimate of the request prefix can separate the two. Neither is more than
        // the view leaves of the count.
        let constant = self.counted_prefix(compaction).unwrap_or(own);
        CountCalibration {
            constant: after,
            counted: compaction.used - constant,
            estimated: view,
        }
    }

    /// The most that the provider counts for the request prefix, according to the replies in view or before an earlier
    /// compaction.
    pub(super) fn counted_prefix(&self, compaction: &CompactionInProgress) -> Option<u64> {
        let (own, view) = (prefix_weight(&self.prefix).padded(), compaction.before);
        let known = self.prefix_count.map(|known| known.of(own));
        let first = before_first_reply(&self.live);
        if compaction.used <= own + view || view == 0 {
            // The count before the first reply includes the whole request prefix, which may have grown since.
            let share = scaled(own, compaction.used, own + view);
            let first = first.map(|(prompt, _)| prompt.max(share).min(own));
            return first.into_iter().chain(known).min();
        }
        let first = first.filter(|(_, messages)| *messages < view / 2);
        let first = first.map(|(prompt, messages)| prompt.saturating_sub(messages));
        let most = compaction.used - view;
        first.or(known).map(|counted| counted.min(most))
    }

    /// The size of a view with this many estimated tokens and this request prefix, on the scale on which the
    /// conversation was counted before. `None` if it was not counted below its estimate.
    pub(super) fn as_counted(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
        view: u64,
    ) -> Option<u64> {
        let (own, new) = (
            prefix_weight(&self.prefix).padded(),
            prefix_weight(head).padded(),
        );
        let estimated = own + compaction.before;
        if self.config.prefixes == PrefixRecording::Unknown || compaction.used >= estimated {
            return None;
        }
        Some(scaled(new + view, compaction.used, estimated))
    }
}

/// Scales an estimate by the ratio of a count to the estimate of the same part.
pub(super) fn scaled(estimate: u64, counted: u64, estimated: u64) -> u64 {
    let tokens = u128::from(estimate) * u128::from(counted) / u128::from(estimated.max(1));
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

/// The provider's count before the first reply in view that reports one, and the estimate of the messages there.
fn before_first_reply(live: &LiveConversation) -> Option<(u64, u64)> {
    let mut ledger = TokenLedger::new();
    for kept in live.entries() {
        let entry = kept.entry.view();
        let standing = live.standing(entry);
        let usage = entry.facets.usage.as_deref();
        let usage = usage.filter(|usage| usage.prompt() > 0 && usage.iterations.is_empty());
        if let Some(usage) = usage
            && entry.facets.is_reply()
            && standing == crate::tokens::EntryStanding::Live
        {
            return Some((usage.prompt(), ledger.whole().padded()));
        }
        ledger.entry(entry, standing);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn y1_the_most_that_fits_is_counted_below_the_limit_and_more_is_not(
            constant in 0_u64..100_000,
            counted in 1_u64..500_000,
            estimated in 1_u64..500_000,
            limit in 1_u64..300_000,
        ) {
            let counted = counted.max(estimated);
            let expected = CountCalibration { constant, counted, estimated };
            let most = expected.most_below(limit);
            if constant < limit {
                prop_assert!(expected.count(most) < limit);
            }
            prop_assert!(expected.count(most + 1) >= limit);
        }
    }
}

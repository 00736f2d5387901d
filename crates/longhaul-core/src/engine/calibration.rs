//! How the provider is likely to count a view that does not exist yet (Y1).
//!
//! Where it counted more than was estimated, it will again. What stands before the messages stays as it is, however much
//! shorter they become: the first measurement in view tells how much that is, and only the rest is scaled. Otherwise a view
//! that has room would be taken for one that has none, and the user's words would be cut for nothing.
//!
//! Where the provider counted less than was estimated, what fits is judged by the estimate all the same: what is kept may be
//! of another kind than what goes (pictures go, text stays). What is gained, however, is the difference of two sizes, and both
//! are taken on the scale of the count.

use super::compact::CompactionInProgress;
use super::config::PrefixRecording;
use super::sizes::prefix_weight;
use super::{Engine, live::LiveConversation};
use crate::prompt::RequestPrefix;
use crate::tokens::{RoughEstimator, TokenLedger};

/// How estimates of a view become counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CountCalibration {
    /// What stands before the messages.
    constant: u64,
    /// What the messages were counted as, and estimated at.
    counted: u64,
    estimated: u64,
}

impl CountCalibration {
    /// What a view of so many estimated tokens will be counted as, with what stands before it.
    pub(super) fn count(self, view: u64) -> u64 {
        let tokens = u128::from(view) * u128::from(self.counted);
        let tokens = tokens.div_ceil(u128::from(self.estimated.max(1)));
        self.constant
            .saturating_add(u64::try_from(tokens).unwrap_or(u64::MAX))
    }

    /// The largest estimate of a view that will be counted below a limit; nought if there is none.
    pub(super) fn most_below(self, limit: u64) -> u64 {
        let room = limit.saturating_sub(1).saturating_sub(self.constant);
        let most = u128::from(room) * u128::from(self.estimated) / u128::from(self.counted.max(1));
        u64::try_from(most).unwrap_or(u64::MAX)
    }
}

impl Engine {
    /// How the view will be counted that a compaction makes, behind this head.
    pub(super) fn expected(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
    ) -> CountCalibration {
        let (own, new) = (
            prefix_weight(&self.head).padded(),
            prefix_weight(head).padded(),
        );
        let as_estimated = |constant| CountCalibration {
            constant,
            counted: 1,
            estimated: 1,
        };
        let view = compaction.before;
        if self.config.heads == PrefixRecording::Unknown {
            return as_estimated(0);
        }
        let after = self.prefix_count_after(compaction, head);
        let after = after.map_or(new, |known| known.of(new));
        if compaction.used <= own + view || view == 0 {
            return as_estimated(after);
        }
        // Where no reply tells, the estimate of the head is all there is to tell the two apart.
        let constant = self.counted_prefix(compaction).unwrap_or(own);
        CountCalibration {
            constant: after,
            counted: compaction.used - constant.min(compaction.used - view),
            estimated: view,
        }
    }

    /// What the provider counts for the head at most, as far as replies tell, or told before an earlier compaction.
    pub(super) fn counted_prefix(&self, compaction: &CompactionInProgress) -> Option<u64> {
        let (own, view) = (prefix_weight(&self.head).padded(), compaction.before);
        let known = self.head_count.map(|known| known.of(own));
        let first = before_first_reply(&self.live);
        if compaction.used <= own + view || view == 0 {
            // What was counted before the first reply holds all that stood before the messages, and that may have grown since.
            let share = scaled(own, compaction.used, own + view);
            let first = first.map(|(prompt, _)| prompt.max(share).min(own));
            return first.into_iter().chain(known).min();
        }
        let first = first.filter(|(_, messages)| *messages < view / 2);
        let first = first.map(|(prompt, messages)| prompt.saturating_sub(messages));
        let most = compaction.used - view;
        first.or(known).map(|counted| counted.min(most))
    }

    /// What a view of so many estimated tokens comes to, behind this head, on the scale on which the conversation was counted
    /// before it. None if it was not counted below its estimate.
    pub(super) fn as_counted(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
        view: u64,
    ) -> Option<u64> {
        let (own, new) = (
            prefix_weight(&self.head).padded(),
            prefix_weight(head).padded(),
        );
        let estimated = own + compaction.before;
        if self.config.heads == PrefixRecording::Unknown || compaction.used >= estimated {
            return None;
        }
        Some(scaled(new + view, compaction.used, estimated))
    }
}

/// So many estimated tokens, where so many were counted that had been estimated at the last figure.
pub(super) fn scaled(estimate: u64, counted: u64, estimated: u64) -> u64 {
    let tokens = u128::from(estimate) * u128::from(counted) / u128::from(estimated.max(1));
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

/// What the provider counted before the first reply in view that tells, and the estimate of the messages there.
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
        ledger.entry(entry, standing, &RoughEstimator);
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

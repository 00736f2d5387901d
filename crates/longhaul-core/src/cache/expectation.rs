//! How much a call could be expected to read from the cache, given what the previous call left there and what was
//! deleted on purpose since (D4).
//!
//! Where the reply says how many tokens the provider left out on request, that is the baseline, and it is exact. Dense
//! results have several times as many tokens as an estimate says, so the estimate is used only where the reply says
//! nothing.

use super::finding::CacheFindingKind;
use super::measure::{CacheMeasurement, is_drop};

/// How much a call could be expected to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct CacheReadExpectation {
    /// The measurement of the previous call.
    measured: CacheMeasurement,
    /// Tokens of the previous read that a call could still read.
    read: u64,
    /// Tokens of the whole cached part that a call could read.
    pub(super) cached: u64,
    /// Deleted tokens that are known only by estimate.
    estimate: u64,
}

/// How an actual read compares with the expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheReadResult {
    /// The call read as much as before.
    Steady,
    /// The call read this many tokens fewer than before, because they were deleted on purpose.
    AsExpected(u64),
    /// The call read less than expected; this many tokens were in the cache.
    Less(CacheFindingKind, u64),
}

impl CacheReadExpectation {
    /// What `now` could read after `before`. `estimate` is the number of tokens that were to be deleted in between.
    pub(super) fn of(before: CacheMeasurement, now: CacheMeasurement, estimate: u64) -> Self {
        // The part that the previous call left out is cached as well. A call that leaves out less reads more.
        let (added, taken, estimate) = match now.deleted {
            Some(deleted) => (before.deleted.unwrap_or(0), deleted, 0),
            None => (0, estimate, estimate),
        };
        let left = |count: u64| (count + added).saturating_sub(taken);
        Self {
            measured: before,
            read: left(before.read),
            cached: left(before.cached),
            estimate,
        }
    }

    pub(super) fn judge(&self, read: u64) -> CacheReadResult {
        let CacheMeasurement {
            read: before,
            cached,
            ..
        } = self.measured;
        // The reported number is what was read before; if that is not a drop, it is what could have been read.
        let told = |before: u64, expected: u64| {
            if is_drop(before, read) {
                before
            } else {
                expected
            }
        };
        if is_drop(self.read, read) {
            return CacheReadResult::Less(CacheFindingKind::Break, told(before, self.read));
        }
        if is_drop(before, read) {
            return CacheReadResult::AsExpected(before - read);
        }
        if is_drop(self.cached, read) {
            return CacheReadResult::Less(CacheFindingKind::Unread, told(cached, self.cached));
        }
        if is_drop(cached, read) {
            CacheReadResult::AsExpected(cached - read)
        } else {
            CacheReadResult::Steady
        }
    }

    /// Whether the missing tokens may be explained by the estimate's error.
    pub(super) fn may_be_off_by(&self, from: u64, read: u64) -> bool {
        let rest = from.saturating_sub(self.estimate).saturating_sub(read);
        self.estimate > 0 && rest <= self.estimate / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(read: u64, written: u64, deleted: Option<u64>) -> CacheMeasurement {
        CacheMeasurement {
            read,
            cached: read + written,
            deleted,
        }
    }

    #[test]
    fn u4_d4_what_the_reply_says_was_deleted_is_the_baseline_whatever_the_estimate_was() {
        let before = measure(60_000, 3_000, Some(0));
        let now = measure(12_600, 2_000, Some(50_400));
        let expected = CacheReadExpectation::of(before, now, 25_200);
        assert_eq!(
            expected.judge(now.read),
            CacheReadResult::AsExpected(47_400)
        );
        // Requesting the same deletion again with the next request removes nothing more.
        let next = measure(14_600, 1_000, Some(50_400));
        assert_eq!(
            CacheReadExpectation::of(now, next, 0).judge(14_600),
            CacheReadResult::Steady
        );
    }

    #[test]
    fn u4_a_cache_that_expired_is_a_break_though_something_was_deleted_from_it() {
        let before = measure(14_600, 1_000, Some(50_400));
        let now = measure(0, 66_000, Some(0));
        let judged = CacheReadExpectation::of(before, now, 0).judge(0);
        assert_eq!(
            judged,
            CacheReadResult::Less(CacheFindingKind::Break, 14_600)
        );
        // Half of the cache is gone, and with it half of the tokens that could be left out.
        let half = measure(14_000, 40_000, Some(10_000));
        let judged = CacheReadExpectation::of(before, half, 0).judge(half.read);
        assert_eq!(
            judged,
            CacheReadResult::Less(CacheFindingKind::Break, 55_000)
        );
    }

    #[test]
    fn d4_without_a_measurement_the_estimate_stands_in() {
        let before = measure(60_000, 3_000, None);
        let now = measure(35_000, 1_000, None);
        let expected = CacheReadExpectation::of(before, now, 25_200);
        assert_eq!(
            expected.judge(now.read),
            CacheReadResult::AsExpected(25_000)
        );
        assert!(expected.may_be_off_by(60_000, 25_000));
        assert!(!expected.may_be_off_by(60_000, 5_000));
    }
}

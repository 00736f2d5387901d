//! Searches for the fullest draft that fits, where a draft turned out to be larger than it was expected to be.
//!
//! What a summary restores may have several times the tokens that its length shows, so a draft may be too large although
//! it aims at few enough. One that aims at much less may leave out the user's words where there is room for them. Drafts
//! of a text that is there cost nothing, so the limit between the two is searched for.

/// How many drafts a search takes: the last aim is a thirty-second of the first range away from the best one.
const DRAFTS: u32 = 5;

/// The smallest possible aim, which leaves nothing beside the summary.
const LEAST: u64 = 1;

/// A search for the largest aim, in tokens, whose draft is small enough.
#[derive(Debug, Clone, Copy)]
pub(super) struct AimSearch {
    /// No aim up to this one leaves more than the smallest does, or this one fits.
    low: u64,
    /// From this aim up, drafts are too large.
    high: u64,
    /// The largest aim that fits, of those that were tried.
    fitting: Option<u64>,
    drafts: u32,
}

impl AimSearch {
    /// Starts a search between the tokens that stay in any case and an aim that was too large.
    pub(super) fn new(least: u64, too_large: u64) -> Self {
        Self {
            low: least.min(too_large),
            high: too_large,
            fitting: None,
            drafts: DRAFTS,
        }
    }

    pub(super) fn is_too_large(&mut self, aim: u64) {
        self.high = self.high.min(aim);
    }

    pub(super) fn fits(&mut self, aim: u64) {
        self.low = self.low.max(aim);
        self.fitting = self.fitting.max(Some(aim));
    }

    /// The next aim to try after this one. `None` if this one is the last: it fits, or nothing does.
    pub(super) fn next_after(&mut self, aim: u64) -> Option<u64> {
        let Some(best) = self.fitting else {
            // Where not even the smallest draft fits, there is nothing to search for.
            return (aim > LEAST).then_some(LEAST);
        };
        let middle = self.low.midpoint(self.high);
        if self.drafts > 0 && middle > self.low {
            self.drafts -= 1;
            return Some(middle);
        }
        self.drafts = 0;
        (best != aim).then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The aims of a search after a draft that aimed at `first`, where drafts fit that aim at less than `limit`.
    fn aims(least: u64, first: u64, limit: u64) -> Vec<u64> {
        let mut search = AimSearch::new(least, first);
        let mut tried = vec![first];
        let mut aim = first;
        loop {
            match aim < limit {
                true => search.fits(aim),
                false => search.is_too_large(aim),
            }
            let Some(next) = search.next_after(aim) else {
                return tried;
            };
            aim = next;
            tried.push(aim);
        }
    }

    #[test]
    fn y1_the_last_draft_is_the_fullest_one_that_fits() {
        for limit in (1_100..8_000).step_by(100) {
            let tried = aims(1_000, 8_000, limit);
            let last = *tried.last().unwrap();
            let widest = (8_000 - 1_000) / 32 + 1;
            assert!(
                last < limit && (limit - last <= widest || last == 1),
                "{limit}: {tried:?}"
            );
            assert!(tried.len() <= 8, "{limit}: {tried:?}");
        }
    }

    #[test]
    fn y1_where_nothing_fits_only_the_smallest_draft_is_tried() {
        for (least, first) in [(1_000, 8_000), (9_000, 8_000), (0, 2)] {
            assert_eq!(aims(least, first, 0), [first, 1]);
        }
        assert_eq!(aims(1, 1, 0), [1]);
    }
}

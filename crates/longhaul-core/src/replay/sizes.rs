//! How large the entries of a recording are: measured differences between requests, shared out by estimate.

use crate::message::{EntryBlock, EntryView};
use crate::tokens::calibrated::block_tokens;

/// A measured growth above this multiple of the estimate holds something that is not in the file.
const MOST_GROWTH: u64 = 4;
/// The scale of an estimate of one token for one token.
const WHOLE: u64 = 1_024;

/// Estimates a block and, for a result, the blocks inside it, which follow it in `rest`. This is the only place that
/// chooses an estimator for recorded sessions.
pub(super) fn estimate(entry: EntryView<'_>, block: &EntryBlock, rest: &[EntryBlock]) -> u64 {
    block_tokens(entry, block, rest).rounded()
}

/// Turns estimates into sizes, and learns from each measured growth how far off estimates are.
#[derive(Debug)]
pub(super) struct SizeScale(u64);

impl Default for SizeScale {
    fn default() -> Self {
        Self(WHOLE)
    }
}

impl SizeScale {
    /// The size of something by its estimate alone.
    pub(super) fn apply(&self, estimate: u64) -> u64 {
        estimate.saturating_mul(self.0) / WHOLE
    }

    /// Shares a measured growth out over estimates. Returns what is left of it: something that is not in the file.
    pub(super) fn share(&mut self, estimates: &mut [u64], grown: u64) -> u64 {
        let total: u64 = estimates.iter().sum();
        if total == 0 {
            return grown;
        }
        if grown > total.saturating_mul(MOST_GROWTH) {
            self.share_unmeasured(estimates);
            return grown.saturating_sub(estimates.iter().sum());
        }
        let (mut passed, mut given) = (0_u64, 0_u64);
        for size in estimates {
            passed += *size;
            // Rounded so that the parts add up to the whole.
            let through = u128::from(grown) * u128::from(passed) / u128::from(total);
            let through = u64::try_from(through).unwrap_or(grown);
            *size = through - given;
            given = through;
        }
        // Growth of a few tokens says nothing about the scale.
        if grown >= 200 {
            self.0 = (self.0 * 9 + grown * WHOLE / total) / 10;
        }
        0
    }

    /// Sizes for entries whose growth was not measured.
    pub(super) fn share_unmeasured(&self, estimates: &mut [u64]) {
        for size in estimates {
            *size = self.apply(*size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v7_a_measured_growth_is_shared_out_to_the_last_token() {
        let mut scale = SizeScale::default();
        let mut sizes = [100, 200, 0, 700];
        assert_eq!(scale.share(&mut sizes, 1_501), 0);
        assert_eq!(sizes.iter().sum::<u64>(), 1_501);
        assert_eq!(sizes[2], 0);
        assert!(scale.apply(1_000) > 1_000, "the estimates were too low");
    }

    #[test]
    fn v7_growth_that_no_entry_explains_stays_apart() {
        let mut scale = SizeScale::default();
        let mut sizes = [100];
        assert_eq!(scale.share(&mut sizes, 20_000), 19_900);
        assert_eq!(scale.share(&mut [], 500), 500);
    }
}

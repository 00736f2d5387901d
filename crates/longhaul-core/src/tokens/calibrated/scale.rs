//! The one number that a session learns: how many tokens its provider counts for each token of the fixed model.

use std::collections::VecDeque;

use super::UnscaledTokens;
use crate::models::Tokenizer;
use crate::tokens::MeasuredTokens;

/// How many observations are remembered.
const REMEMBERED: usize = 31;
/// Smaller parts say more about frames than about texts.
const SMALLEST: u64 = 300;
/// A whole, in the thousandths of ratios.
const WHOLE: u64 = 1_000;
/// Ratios outside of this are of something that the transcript does not have, or of a conversation that was cut.
const RATIOS: std::ops::RangeInclusive<u64> = 250..=4_000;
/// How far the median may be from what the tokenizer family is known to count before it is believed: the fixed model is
/// that far off for a single session, and following it would only add noise.
const NOISE: i128 = 40;
/// The error that nine of ten estimates stay within before anything was observed, and the number of observations that
/// it counts for.
const PRIOR_SPREAD: u64 = 170;
const PRIOR_WEIGHT: u64 = 8;

/// The scale of one tokenizer in one session. It is the median of the newest observations, so a few that have nothing to
/// do with the text (a hook's output that no transcript holds, say) do not move it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedScale {
    /// What the tokenizer family is known to count, in thousandths.
    family: u64,
    /// The newest ratios of measured to unscaled tokens, in thousandths.
    ratios: VecDeque<u64>,
    scale: u64,
    spread: u64,
}

impl LearnedScale {
    /// The scale before any reply.
    pub fn new(tokenizer: Tokenizer) -> Self {
        let family = match tokenizer {
            Tokenizer::New => 1_300,
            Tokenizer::Old | Tokenizer::Unknown => WHOLE,
        };
        Self {
            family,
            ratios: VecDeque::new(),
            scale: family,
            spread: PRIOR_SPREAD,
        }
    }

    /// Learns from a part of the conversation that was estimated and then measured. Small parts and ratios that no
    /// tokenizer has are ignored.
    pub fn observe(&mut self, measured: MeasuredTokens, estimated: UnscaledTokens) {
        let estimated = estimated.rounded();
        if measured.tokens() < SMALLEST || estimated < SMALLEST {
            return;
        }
        let ratio = u128::from(measured.tokens()) * u128::from(WHOLE) / u128::from(estimated);
        let ratio = u64::try_from(ratio).unwrap_or(u64::MAX);
        if !RATIOS.contains(&ratio) {
            return;
        }
        if self.ratios.len() == REMEMBERED {
            self.ratios.pop_front();
        }
        self.ratios.push_back(ratio);
        self.scale = self.learned();
        self.spread = self.observed_spread();
    }

    /// Tokens of the provider for each token of the fixed model, in thousandths.
    pub fn thousandths(&self) -> u64 {
        self.scale
    }

    /// The share of an estimate within which the error of nine of ten estimates stays, in thousandths.
    pub fn spread(&self) -> u64 {
        self.spread
    }

    /// How many observations the scale is based on.
    pub fn observations(&self) -> usize {
        self.ratios.len()
    }

    fn learned(&self) -> u64 {
        let mut ratios: Vec<u64> = self.ratios.iter().copied().collect();
        ratios.sort_unstable();
        let middle = ratios.len().saturating_sub(1) / 2;
        let median = ratios.get(middle).copied().unwrap_or(self.family);
        let whole = i128::from(WHOLE);
        let family = i128::from(self.family);
        // The median's distance from the family's scale, as a share of that.
        let far = (i128::from(median) - family) * whole / family;
        // A distance well beyond the noise is believed almost whole, one within it hardly.
        let believed = far * far * far / (far * far + NOISE * NOISE);
        let scale = family + family * believed / whole;
        u64::try_from(scale)
            .unwrap_or(self.family)
            .clamp(*RATIOS.start(), *RATIOS.end())
    }

    fn observed_spread(&self) -> u64 {
        let error = |ratio: &u64| ratio.abs_diff(self.scale) * WHOLE / self.scale.max(1);
        let mut errors: Vec<u64> = self.ratios.iter().map(error).collect();
        errors.sort_unstable();
        let count = errors.len();
        let most = errors.get((count * 9 / 10).min(count.saturating_sub(1)));
        let most = most.copied().unwrap_or(PRIOR_SPREAD).min(WHOLE);
        let count = count as u64;
        (PRIOR_SPREAD * PRIOR_WEIGHT + most * count) / (PRIOR_WEIGHT + count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn observed(ratios: impl IntoIterator<Item = u64>) -> LearnedScale {
        let mut scale = LearnedScale::new(Tokenizer::Old);
        for ratio in ratios {
            scale.observe(MeasuredTokens::new(ratio), UnscaledTokens::whole(1_000));
        }
        scale
    }

    #[test]
    fn x4_one_reply_of_another_tokenizer_is_enough_to_follow_it() {
        let scale = observed([1_300]);
        assert!((1_270..=1_300).contains(&scale.thousandths()), "{scale:?}");
    }

    #[test]
    fn x4_noise_and_single_surprises_do_not_move_the_scale() {
        let scale = observed([1_020, 990, 3_500, 1_010, 980]);
        assert!((995..=1_005).contains(&scale.thousandths()), "{scale:?}");
        // Nothing can be learned from an addition of which hardly anything is in the transcript.
        assert_eq!(observed([90_000, 10]).observations(), 0);
    }

    #[test]
    fn x4_a_switch_is_followed_when_the_old_observations_are_the_fewer() {
        let scale = observed([1_000; 31].into_iter().chain([1_400; 16]));
        assert!(scale.thousandths() > 1_380, "{scale:?}");
    }

    proptest! {
        #[test]
        fn x4_the_scale_and_its_spread_stay_bounded(
            pairs in prop::collection::vec((any::<u64>(), any::<u64>()), 0..60)
        ) {
            let mut scale = LearnedScale::new(Tokenizer::New);
            for (measured, estimated) in pairs {
                scale.observe(MeasuredTokens::new(measured), UnscaledTokens::whole(estimated));
                prop_assert!(RATIOS.contains(&scale.thousandths()));
                prop_assert!(scale.spread() <= WHOLE);
                prop_assert!(scale.observations() <= REMEMBERED);
            }
        }
    }
}

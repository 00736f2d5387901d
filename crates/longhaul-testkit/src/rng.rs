//! The only source of randomness: a seeded ChaCha8 stream and the few draws that the generators need.
//!
//! The draws are implemented here rather than taken from `rand`'s distributions, because those may change their values
//! between versions; the raw ChaCha stream is specified and may not.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// A deterministic stream of draws.
#[derive(Clone, Debug)]
pub(crate) struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream that belongs to `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `limit` (0 for a limit of 0). The bias of multiply-and-shift is far below what a test sees.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// A number from `low` up to and including `high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items; the caller passes a non-empty table.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// A number in `low..=high`, where small values are common and large ones rare, as with the lengths of real output.
    pub(crate) fn skewed(&mut self, low: usize, high: usize) -> usize {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        low + ((high.saturating_sub(low)) as f64 * unit * unit * unit) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_stream_each_time() {
        let mut rng = Rng::new(1);
        let first: Vec<usize> = (0..6).map(|_| rng.below(1000)).collect();
        let mut again = Rng::new(1);
        assert_eq!(first, (0..6).map(|_| again.below(1000)).collect::<Vec<_>>());
        assert_ne!(first, {
            let mut other = Rng::new(2);
            (0..6).map(|_| other.below(1000)).collect::<Vec<_>>()
        });
    }

    #[test]
    fn draws_stay_in_their_bounds() {
        let mut rng = Rng::new(3);
        for _ in 0..2_000 {
            assert!((4..=9).contains(&rng.between(4, 9)));
            assert!((10..=500).contains(&rng.skewed(10, 500)));
            assert!(rng.below(1) == 0);
        }
        assert_eq!(rng.below(0), 0);
    }
}

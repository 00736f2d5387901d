//! The model's only source of randomness: a seeded ChaCha8 stream and the few draws it needs, implemented here so that
//! a seed means the same replies forever.

use longhaul_core::xxh3::xxh3_64_with_seed;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// A seed derived from another one and a text.
pub(crate) fn mix(seed: u64, text: &str) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), seed)
}

/// A deterministic stream of draws.
#[derive(Debug, Clone)]
pub struct Chance(ChaCha8Rng);

impl Chance {
    /// The stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `limit` (0 for a limit of 0).
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.0.next_u64()) * limit as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, inclusive.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// A number from 0 up to, but excluding, 1.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub(crate) fn odds(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of the items; `None` for an empty slice.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// One of these phrases.
    pub fn say(&mut self, phrases: &[&'static str]) -> &'static str {
        self.pick(phrases).copied().unwrap_or("")
    }

    /// A number in `low..=high`, where small values are common and large ones rare.
    pub fn skewed(&mut self, low: usize, high: usize) -> usize {
        let unit = self.unit();
        low + ((high.saturating_sub(low) + 1) as f64 * unit * unit) as usize
    }

    /// An index into `weights`, more likely where the weight is larger; `None` if all weights are zero.
    pub fn weighted(&mut self, weights: &[u32]) -> Option<usize> {
        let total: u32 = weights.iter().sum();
        let mut at = self.below(total as usize) as u32;
        for (index, weight) in weights.iter().enumerate() {
            if at < *weight {
                return Some(index);
            }
            at -= weight;
        }
        None
    }
}

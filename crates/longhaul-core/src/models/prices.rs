//! What tokens cost on one model, by class and prompt size, and the sum for one billed step.
//!
//! Only token prices: what a server tool charges by the call, or a faster service tier, is not in `Usage` and so
//! not in the sum.

use crate::message::Usage;
use crate::money::{Fraction, TokenPrice, Usd};

const BATCH: Fraction = Fraction { over: 1, under: 2 };
const US_ONLY: Fraction = Fraction {
    over: 11,
    under: 10,
};

/// A model's prices: one set, or several by the size of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    /// The prices of prompts that reach no tier.
    pub base: TokenPrices,
    /// Other prices for larger prompts, by rising size.
    pub tiers: Vec<PriceTier>,
}

/// Prices for prompts over a size. They apply to the whole step, not only to what is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTier {
    /// The tier begins with the first token above.
    pub above: u64,
    /// Its prices.
    pub prices: TokenPrices,
}

/// The price of a token of each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenPrices {
    /// Prompt, outside the cache.
    pub input: TokenPrice,
    /// Prompt, written to the cache for five minutes.
    pub cache_write_5m: TokenPrice,
    /// Prompt, written to the cache for an hour.
    pub cache_write_1h: TokenPrice,
    /// Prompt, read from the cache.
    pub cache_read: TokenPrice,
    /// Written by the model.
    pub output: TokenPrice,
}

/// The terms under which a step is billed.
#[derive(Debug, Clone, Copy)]
pub(super) struct BillingTerms {
    pub(super) batch: bool,
    pub(super) us_only: bool,
}

impl Prices {
    /// The prices that hold for a prompt of this many tokens, cached ones included.
    pub fn at(&self, prompt: u64) -> &TokenPrices {
        self.tiers
            .iter()
            .rev()
            .find(|tier| prompt > tier.above)
            .map_or(&self.base, |tier| &tier.prices)
    }

    pub(super) fn cost(&self, step: &Usage, terms: BillingTerms) -> Usd {
        let mut cost = self.at(step.prompt()).cost(step);
        if terms.us_only {
            cost = cost.times(US_ONLY);
        }
        if terms.batch {
            cost = cost.times(BATCH);
        }
        cost
    }
}

impl TokenPrices {
    fn cost(&self, step: &Usage) -> Usd {
        self.input.of(step.input)
            + self.cache_write_5m.of(step.cache_write_5m)
            + self.cache_write_1h.of(step.cache_write_1h)
            + self.cache_read.of(step.cache_read)
            + self.output.of(step.output)
    }
}

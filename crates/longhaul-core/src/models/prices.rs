//! The prices of tokens on one model, by class and prompt size, and the cost of one billed step.
//!
//! Searches of the web have a price each. Other charges of server tools and the price of a faster service tier are not
//! in `Usage` and so not in the cost.

use crate::message::Usage;
use crate::money::{Fraction, TokenPrice, Usd};

const BATCH: Fraction = Fraction { over: 1, under: 2 };
const US_ONLY: Fraction = Fraction {
    over: 11,
    under: 10,
};

/// A model's prices: one set, or several by the size of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prices {
    /// The prices of prompts that are too small for any tier.
    pub base: TokenPrices,
    /// Other prices for larger prompts, by ascending size.
    pub tiers: Vec<PriceTier>,
    /// The price of one search of the web that the provider runs; `None` where it runs none, or nobody knows.
    pub web_search: Option<Usd>,
}

/// Prices for prompts above a size. They apply to the whole step, not only to the tokens above that size.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PriceTier {
    /// The size above which the tier applies, in tokens.
    pub above: u64,
    /// The prices of the tier.
    pub prices: TokenPrices,
}

/// The price of a token of each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenPrices {
    /// A prompt token that is not cached.
    pub input: TokenPrice,
    /// A prompt token that is written to the cache for five minutes.
    pub cache_write_5m: TokenPrice,
    /// A prompt token that is written to the cache for an hour.
    pub cache_write_1h: TokenPrice,
    /// A prompt token that is read from the cache.
    pub cache_read: TokenPrice,
    /// A token that the model writes.
    pub output: TokenPrice,
}

/// The terms under which a step is billed.
#[derive(Debug, Clone, Copy)]
pub(super) struct BillingTerms {
    pub(super) batch: bool,
    pub(super) us_only: bool,
}

impl Prices {
    /// Returns the prices for a prompt of this many tokens, including cached ones.
    pub fn at(&self, prompt: u64) -> &TokenPrices {
        self.tiers
            .iter()
            .rev()
            .find(|tier| prompt > tier.above)
            .map_or(&self.base, |tier| &tier.prices)
    }

    /// Returns the cost of so many searches. Neither the batch rate nor the surcharge for the US applies to it.
    pub(super) fn searches(&self, searches: u64) -> Usd {
        let price = self.web_search.unwrap_or_default().pico();
        Usd::from_pico(price.saturating_mul(i128::from(searches)))
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

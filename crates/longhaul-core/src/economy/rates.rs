//! The prices that a decision needs: those of one model, one cache lifetime and one size of prompt.

use crate::models::Prices;
use crate::money::{TokenPrice, Usd};
use crate::prompt::Ttl;

/// The price of a token by what happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenRates {
    /// A prompt token that is neither read from the cache nor written to it.
    pub input: TokenPrice,
    /// A prompt token that is written to the cache.
    pub write: TokenPrice,
    /// A prompt token that is read from the cache.
    pub read: TokenPrice,
    /// A token that the model writes.
    pub output: TokenPrice,
}

impl TokenRates {
    /// Returns the rates of a model for a prompt of this size. A provider that does not charge for writing bills
    /// what is written as input.
    pub fn of(prices: &Prices, prompt: u64, ttl: Ttl) -> Self {
        let prices = prices.at(prompt);
        let write = match ttl {
            Ttl::FiveMinutes => prices.cache_write_5m,
            Ttl::OneHour => prices.cache_write_1h,
        };
        Self {
            input: prices.input,
            write: if write == TokenPrice::default() {
                prices.input
            } else {
                write
            },
            read: prices.cache_read,
            output: prices.output,
        }
    }

    /// What it costs to send tokens that an earlier request has sent.
    pub(crate) fn sending_again(&self, warmth: PrefixWarmth, tokens: u64) -> Usd {
        match warmth {
            PrefixWarmth::Hot => self.read.of(tokens),
            PrefixWarmth::Cold => self.write.of(tokens),
            PrefixWarmth::Uncached => self.input.of(tokens),
        }
    }

    /// What it costs to send tokens for the first time.
    pub(crate) fn sending_first(&self, warmth: PrefixWarmth, tokens: u64) -> Usd {
        match warmth {
            PrefixWarmth::Hot | PrefixWarmth::Cold => self.write.of(tokens),
            PrefixWarmth::Uncached => self.input.of(tokens),
        }
    }
}

/// What the provider's cache does for the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrefixWarmth {
    /// The cache holds what the last request sent. This is assumed where nothing is known.
    #[default]
    Hot,
    /// The cache has expired, so the next request writes everything again, changed or not.
    Cold,
    /// Nothing is cached: the request has no cache breakpoint, or it is below the cache minimum.
    Uncached,
}

impl PrefixWarmth {
    /// Judges by the time since the start of the last request. A clock that went back says nothing, and nothing known
    /// means hot.
    pub fn after(idle_seconds: Option<i64>, ttl: Ttl) -> Self {
        match idle_seconds {
            Some(idle) if idle >= ttl.seconds() => Self::Cold,
            _ => Self::Hot,
        }
    }
}

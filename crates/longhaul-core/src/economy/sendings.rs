//! How often, and how much, was sent again, by how it was billed. Money is made of it with the prices of the moment, so
//! that a change of model or cache lifetime prices the past anew instead of losing it (V5).

use std::ops::{AddAssign, Sub};

use serde::{Deserialize, Serialize};

use super::{PrefixWarmth, TokenRates};
use crate::money::Usd;

/// A number of requests, by how they billed what had been sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RequestCounts {
    /// Requests that read it from the cache.
    pub read: u64,
    /// Requests that wrote it again, because the cache had expired or was broken.
    pub written: u64,
    /// Requests that sent it without a cache.
    pub input: u64,
}

impl RequestCounts {
    /// Counts one more request.
    pub(crate) fn count(&mut self, warmth: PrefixWarmth) {
        match warmth {
            PrefixWarmth::Hot => self.read += 1,
            PrefixWarmth::Cold => self.written += 1,
            PrefixWarmth::Uncached => self.input += 1,
        }
    }

    /// The later of two points in the same sequence of requests.
    pub(super) fn later(self, other: Self) -> Self {
        let total = |counts: Self| counts.read + counts.written + counts.input;
        if total(self) >= total(other) {
            self
        } else {
            other
        }
    }

    /// What it cost to send this many tokens with each of these requests.
    pub(crate) fn cost(self, rates: &TokenRates, tokens: u64) -> Usd {
        self.of(tokens).cost(rates)
    }

    /// These requests, each with this many tokens.
    pub(crate) fn of(self, tokens: u64) -> SentTokens {
        SentTokens {
            read: self.read.saturating_mul(tokens),
            written: self.written.saturating_mul(tokens),
            input: self.input.saturating_mul(tokens),
        }
    }
}

impl Sub for RequestCounts {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            read: self.read.saturating_sub(earlier.read),
            written: self.written.saturating_sub(earlier.written),
            input: self.input.saturating_sub(earlier.input),
        }
    }
}

/// Tokens that were sent again, over all requests, by how they were billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct SentTokens {
    /// Tokens read from the cache.
    pub read: u64,
    /// Tokens written again.
    pub written: u64,
    /// Tokens sent without a cache.
    pub input: u64,
}

impl SentTokens {
    /// What sending them cost.
    pub(crate) fn cost(self, rates: &TokenRates) -> Usd {
        rates.read.of(self.read) + rates.write.of(self.written) + rates.input.of(self.input)
    }
}

impl AddAssign for SentTokens {
    fn add_assign(&mut self, other: Self) {
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
        self.input = self.input.saturating_add(other.input);
    }
}

impl Sub for SentTokens {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            read: self.read.saturating_sub(other.read),
            written: self.written.saturating_sub(other.written),
            input: self.input.saturating_sub(other.input),
        }
    }
}

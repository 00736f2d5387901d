//! Totals over calls.

use longhaul_core::money::Usd;
use serde::Serialize;

/// The number of calls, tokens by class, and cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct UsageTotals {
    /// The number of calls, including refused ones.
    pub requests: u64,
    /// The number of refused calls.
    pub errors: u64,
    /// Prompt tokens outside the cache.
    pub input_tokens: u64,
    /// Prompt tokens read from the cache.
    pub cache_read_input_tokens: u64,
    /// Prompt tokens written to the cache for five minutes.
    pub cache_write_5m_input_tokens: u64,
    /// Prompt tokens written to the cache for an hour.
    pub cache_write_1h_input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// The exact cost.
    pub cost_usd: Usd,
    /// The number of calls to models without known prices; they cost nothing here.
    pub unpriced: u64,
    /// The share of the prompt tokens that came from the cache, from 0 to 1.
    pub hit_rate: f64,
}

impl UsageTotals {
    /// The total number of prompt tokens.
    pub fn prompt_tokens(&self) -> u64 {
        self.input_tokens
            + self.cache_read_input_tokens
            + self.cache_write_5m_input_tokens
            + self.cache_write_1h_input_tokens
    }

    /// Adds other totals to these.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.errors += other.errors;
        self.input_tokens += other.input_tokens;
        self.cache_read_input_tokens += other.cache_read_input_tokens;
        self.cache_write_5m_input_tokens += other.cache_write_5m_input_tokens;
        self.cache_write_1h_input_tokens += other.cache_write_1h_input_tokens;
        self.output_tokens += other.output_tokens;
        self.cost_usd += other.cost_usd;
        self.unpriced += other.unpriced;
        self.settle();
    }

    pub(super) fn settle(&mut self) {
        self.hit_rate = match self.prompt_tokens() {
            0 => 0.0,
            prompt => self.cache_read_input_tokens as f64 / prompt as f64,
        };
    }
}

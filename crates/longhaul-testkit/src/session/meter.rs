//! Usage as the API would report it: a prompt cache that grows with the conversation and goes cold with time.
//!
//! The counts are consistent (each request reads from the cache what the one before wrote to it), which is what readers
//! are tested on; they do not come from a tokenizer.

use super::spec::CacheTtl;
use super::truth::ExpectedUsage;
use crate::json::ObjectBuilder;
use crate::rng::Rng;
use crate::timestamp::Millis;

/// The state from which the usage numbers of one thread are computed.
#[derive(Clone, Debug)]
pub(super) struct UsageMeter {
    /// The tokens of the system prompt and the tools.
    base: u64,
    /// The tokens of the conversation since the last boundary.
    history: u64,
    /// How many tokens of the prefix the cache holds.
    cached: u64,
    last_request: Millis,
    ttl: CacheTtl,
}

/// Characters of agent content per token, times ten.
const CHARS_PER_TOKEN_X10: u64 = 26;

/// The token count of a text of this many bytes.
pub(super) fn tokens(bytes: usize) -> u64 {
    bytes as u64 * 10 / CHARS_PER_TOKEN_X10
}

impl UsageMeter {
    pub(super) fn new(rng: &mut Rng, ttl: CacheTtl, low: usize, high: usize) -> Self {
        Self {
            base: rng.between(low, high) as u64,
            history: 0,
            cached: 0,
            last_request: 0,
            ttl,
        }
    }

    /// Adds content for the next request.
    pub(super) fn add(&mut self, tokens: u64) {
        self.history += tokens;
    }

    /// Replaces the conversation with its summary.
    pub(super) fn compact(&mut self, tokens: u64) {
        self.history = tokens;
        self.cached = self.base;
    }

    /// Clears some of the conversation, which breaks the cached prefix.
    pub(super) fn clear(&mut self, tokens: u64) {
        self.history = self.history.saturating_sub(tokens);
        self.cached = self.base;
    }

    /// Makes one request and returns its usage without output.
    pub(super) fn request(&mut self, rng: &mut Rng, now: Millis) -> ExpectedUsage {
        let life: Millis = match self.ttl {
            CacheTtl::FiveMinutes => 5 * 60_000,
            CacheTtl::OneHour => 60 * 60_000,
        };
        if now.saturating_sub(self.last_request) > life {
            self.cached = 0;
        }
        self.last_request = now;
        let total = self.base + self.history;
        let input = rng.between(1, 12) as u64;
        let read = self.cached.min(total.saturating_sub(input));
        let written = total.saturating_sub(input + read);
        self.cached = read + written;
        let (five, hour) = match self.ttl {
            CacheTtl::FiveMinutes => (written, 0),
            CacheTtl::OneHour => (0, written),
        };
        ExpectedUsage {
            input,
            cache_read: read,
            cache_write_5m: five,
            cache_write_1h: hour,
            output: 0,
        }
    }
}

/// `message.usage` as the API sends it.
pub(super) fn usage_json(usage: &ExpectedUsage) -> String {
    let creation = ObjectBuilder::new()
        .number("ephemeral_5m_input_tokens", usage.cache_write_5m)
        .number("ephemeral_1h_input_tokens", usage.cache_write_1h)
        .end();
    ObjectBuilder::new()
        .number("input_tokens", usage.input)
        .number(
            "cache_creation_input_tokens",
            usage.cache_write_5m + usage.cache_write_1h,
        )
        .number("cache_read_input_tokens", usage.cache_read)
        .raw("cache_creation", &creation)
        .number("output_tokens", usage.output)
        .text("service_tier", "standard")
        .text("inference_geo", "not_available")
        .end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_request_writes_the_next_one_reads() {
        let mut rng = Rng::new(1);
        let mut meter = UsageMeter::new(&mut rng, CacheTtl::FiveMinutes, 20_000, 20_000);
        meter.add(1_000);
        let first = meter.request(&mut rng, 1_000_000);
        assert_eq!(first.context(), 21_000);
        assert_eq!(first.cache_read, 0);
        meter.add(500);
        let second = meter.request(&mut rng, 1_060_000);
        assert_eq!(second.cache_read, first.cache_write_5m);
        assert_eq!(second.context(), 21_500);
        let cold = meter.request(&mut rng, 9_000_000);
        assert_eq!(cold.cache_read, 0);
        meter.compact(300);
        assert_eq!(meter.request(&mut rng, 9_000_001).context(), 20_300);
    }
}

//! The rate limit headers. Limits are told, never enforced: what is refused is refused by a fault.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use longhaul_core::message::Usage;

use crate::call::VirtualMillis;

const MINUTE: u64 = 60_000;
const REQUESTS: u64 = 4_000;
const INPUT: u64 = 2_000_000;
const OUTPUT: u64 = 400_000;

/// What was used in the minute that runs.
#[derive(Debug, Default)]
pub(super) struct RateUsage {
    minute: u64,
    requests: u64,
    input: u64,
    output: u64,
}

/// What is left of each limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct RateRemaining {
    requests: u64,
    input: u64,
    output: u64,
    /// Until the next minute begins.
    reset_ms: u64,
}

impl RateUsage {
    /// Counts a request. Reads from the cache count for nothing.
    pub(super) fn count(&mut self, now: VirtualMillis, usage: Option<&Usage>) -> RateRemaining {
        let minute = now.0 / MINUTE;
        if self.minute != minute {
            *self = Self {
                minute,
                ..Self::default()
            };
        }
        self.requests += 1;
        for step in usage.into_iter().flat_map(|usage| usage.billed()) {
            self.input += step.input + step.cache_write_5m + step.cache_write_1h;
            self.output += step.output;
        }
        RateRemaining {
            requests: REQUESTS.saturating_sub(self.requests),
            input: INPUT.saturating_sub(self.input),
            output: OUTPUT.saturating_sub(self.output),
            reset_ms: MINUTE - now.0 % MINUTE,
        }
    }
}

impl RateRemaining {
    /// Nothing left: what a 429 tells.
    pub(super) fn nothing(self) -> Self {
        Self {
            requests: 0,
            input: 0,
            output: 0,
            ..self
        }
    }

    /// As the Anthropic dialect tells it.
    pub(super) fn anthropic(&self, headers: &mut HeaderMap) {
        let wait = SignedDuration::from_millis(i64::try_from(self.reset_ms).unwrap_or(0));
        let reset = Timestamp::now()
            .saturating_add(wait)
            .unwrap_or(Timestamp::UNIX_EPOCH);
        // To the second, as the API does.
        let reset = reset.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let thousands = |tokens: u64| tokens / 1_000 * 1_000;
        let table = [
            ("requests", REQUESTS, self.requests),
            ("input-tokens", INPUT, thousands(self.input)),
            ("output-tokens", OUTPUT, thousands(self.output)),
            (
                "tokens",
                INPUT + OUTPUT,
                thousands(self.input + self.output),
            ),
        ];
        for (what, limit, remaining) in table {
            let mut set = |field: &str, value: &str| {
                put(
                    headers,
                    &format!("anthropic-ratelimit-{what}-{field}"),
                    value,
                );
            };
            set("limit", &limit.to_string());
            set("remaining", &remaining.to_string());
            set("reset", &reset);
        }
    }

    /// As the OpenAI dialect tells it.
    pub(super) fn openai(&self, headers: &mut HeaderMap) {
        let table = [
            ("requests", REQUESTS, self.requests),
            ("tokens", INPUT + OUTPUT, self.input + self.output),
        ];
        let reset = format!("{}ms", self.reset_ms);
        for (what, limit, remaining) in table {
            put(
                headers,
                &format!("x-ratelimit-limit-{what}"),
                &limit.to_string(),
            );
            put(
                headers,
                &format!("x-ratelimit-remaining-{what}"),
                &remaining.to_string(),
            );
            put(headers, &format!("x-ratelimit-reset-{what}"), &reset);
        }
    }
}

/// Sets a header; one that cannot be written as such is left out.
pub(super) fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

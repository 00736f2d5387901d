//! The rate limit headers. Limits are reported, never enforced: only faults refuse requests.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use longhaul_core::message::Usage;

use crate::call::VirtualMillis;

const MINUTE: u64 = 60_000;
const REQUESTS: u64 = 4_000;
const INPUT: u64 = 2_000_000;
const OUTPUT: u64 = 400_000;

/// The usage in the current minute.
#[derive(Debug, Default)]
pub(super) struct RateUsage {
    minute: u64,
    requests: u64,
    input: u64,
    output: u64,
}

/// The rest of each limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct RateRemaining {
    requests: u64,
    input: u64,
    output: u64,
    /// The milliseconds until the next minute begins.
    reset_ms: u64,
}

impl RateUsage {
    /// Counts a request. Cache reads do not count.
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
    /// All limits used up, as a 429 reports.
    pub(super) fn nothing(self) -> Self {
        Self {
            requests: 0,
            input: 0,
            output: 0,
            ..self
        }
    }

    /// Sets the headers of the Anthropic dialect.
    pub(super) fn anthropic(&self, headers: &mut HeaderMap) {
        let wait = SignedDuration::from_millis(i64::try_from(self.reset_ms).unwrap_or(0));
        let reset = Timestamp::now()
            .saturating_add(wait)
            .unwrap_or(Timestamp::UNIX_EPOCH);
        // The time is rounded to the second, as in the API.
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

    /// Sets the headers of the OpenAI dialect.
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

/// Sets a header; a value that is not valid in a header is dropped.
pub(super) fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

//! Turns a cache lookup into token classes: the billing points A, B and C.

use longhaul_core::message::Usage;

use super::CacheLookup;
use crate::prompt::LaidOutPrompt;
use crate::request::CacheLifetime;

/// The tokens of a prompt by class. Their sum is the whole prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Billing {
    /// Tokens read from the cache.
    pub read: u64,
    /// Tokens written for five minutes.
    pub write_5m: u64,
    /// Tokens written for an hour.
    pub write_1h: u64,
    /// Tokens neither read nor written.
    pub input: u64,
}

impl Billing {
    /// Bills a prompt: A is the longest prefix read, B the last one-hour breakpoint after it, C the last breakpoint.
    pub fn of(prompt: &LaidOutPrompt, found: &CacheLookup) -> Self {
        let a = found.read.map_or(0, |index| prompt.up_to(index + 1));
        let point = |ttl: Option<CacheLifetime>| {
            let mut points = found.written.iter().rev();
            let last = points.find(|(_, written)| ttl.is_none_or(|ttl| ttl == *written));
            last.map_or(0, |(index, _)| prompt.up_to(index + 1))
        };
        let b = point(Some(CacheLifetime::OneHour)).max(a);
        let c = point(None).max(b);
        Self {
            read: a,
            write_5m: c - b,
            write_1h: b - a,
            input: prompt.tokens.saturating_sub(c),
        }
    }

    /// The tokens of all classes.
    pub fn prompt(&self) -> u64 {
        self.read + self.write_5m + self.write_1h + self.input
    }

    /// The tokens that were not in the cache and had to be computed.
    pub fn computed(&self) -> u64 {
        self.prompt() - self.read
    }

    /// The usage, together with the model's output.
    pub fn usage(&self, output: u64) -> Usage {
        Usage {
            input: self.input,
            cache_read: self.read,
            cache_write_5m: self.write_5m,
            cache_write_1h: self.write_1h,
            output,
            ..Usage::default()
        }
    }
}

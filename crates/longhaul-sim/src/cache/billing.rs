//! From what was found to token classes: the billing points A, B and C.

use longhaul_core::message::Usage;

use super::CacheLookup;
use crate::prompt::LaidOutPrompt;
use crate::request::CacheLifetime;

/// Tokens of a prompt by class. Their sum is the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Billing {
    /// Read from the cache.
    pub read: u64,
    /// Written for five minutes.
    pub write_5m: u64,
    /// Written for an hour.
    pub write_1h: u64,
    /// Neither.
    pub input: u64,
}

impl Billing {
    /// A prompt billed: A is the longest prefix read, B the last hour-long breakpoint behind it, C the last breakpoint.
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

    /// All of them.
    pub fn prompt(&self) -> u64 {
        self.read + self.write_5m + self.write_1h + self.input
    }

    /// What was not in the cache and had to be computed.
    pub fn computed(&self) -> u64 {
        self.prompt() - self.read
    }

    /// With what the model wrote, as usage.
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

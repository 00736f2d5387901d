//! What a reply's usage says about the cache: how much it read, and how much the next request can read.

use crate::message::{IterationKind, Usage};

/// A drop of more than this share of what was read, in percent …
pub(crate) const DROP_PERCENT: u64 = 5;
/// … and of more than this many tokens is a break (D2).
pub(crate) const DROP_TOKENS: u64 = 2_000;

/// The cache as one reply measured it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheMeasurement {
    /// Tokens that the request read.
    pub read: u64,
    /// Tokens that are cached since: read, or written anew.
    pub cached: u64,
    /// Tokens that are cached, too, and were left out because the request asked for it (U4). None if the reply does not
    /// say.
    pub deleted: Option<u64>,
}

impl CacheMeasurement {
    /// None if nothing was measured: an aborted stream, a synthetic reply.
    ///
    /// A reply of several steps reads the same prefix several times. What the request itself read is its first step;
    /// what the next can read is what the last left behind.
    pub fn of(usage: &Usage) -> Option<Self> {
        if usage.prompt() == 0 {
            return None;
        }
        let mut steps = (usage.iterations.iter())
            .filter(|step| step.kind == IterationKind::Message)
            .map(|step| &step.usage);
        let first = steps.next().unwrap_or(usage);
        let last = steps.next_back().unwrap_or(first);
        Some(Self {
            read: first.cache_read,
            cached: last.cache_read + last.cache_write(),
            deleted: first.cache_deleted.or(usage.cache_deleted),
        })
    }
}

/// Whether a fall from one count to another is more than what counting itself may explain (D2).
pub fn is_drop(from: u64, to: u64) -> bool {
    let lost = from.saturating_sub(to);
    lost > DROP_TOKENS && lost.saturating_mul(100) > from.saturating_mul(DROP_PERCENT)
}

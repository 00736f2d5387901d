//! What a reply's usage says about the cache: how much the request read, and how much the next one can read.

use crate::message::{IterationKind, Usage};

/// A read that drops by more than this percentage, and by more than `DROP_TOKENS`, is a break (D2).
pub(crate) const DROP_PERCENT: u64 = 5;
/// A read that drops by more than this many tokens, and by more than `DROP_PERCENT`, is a break (D2).
pub(crate) const DROP_TOKENS: u64 = 2_000;

/// The cache as one reply measured it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheMeasurement {
    /// Tokens that the request read.
    pub read: u64,
    /// Tokens that are cached afterwards, whether they were read or newly written.
    pub cached: u64,
    /// Tokens that are also cached but were left out on request (U4). `None` if the reply does not say.
    pub deleted: Option<u64>,
}

impl CacheMeasurement {
    /// Reads a measurement from a usage. Returns none if nothing was measured: an aborted stream, a synthetic reply.
    ///
    /// A reply of several steps reads the same prefix several times. The first step tells what the request itself read;
    /// the last step tells what the next request can read.
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

/// Whether a drop from one count to another is more than counting itself may explain (D2).
pub fn is_drop(from: u64, to: u64) -> bool {
    let lost = from.saturating_sub(to);
    lost > DROP_TOKENS && lost.saturating_mul(100) > from.saturating_mul(DROP_PERCENT)
}

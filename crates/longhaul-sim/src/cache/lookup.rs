//! Looks a prompt up in the cache: from each breakpoint backwards, at most twenty positions.

use super::{CacheQuery, SimPromptCache};
use crate::request::CacheLifetime;

/// The number of positions checked from a breakpoint, including its own.
pub(crate) const LOOK_BACK: usize = 20;

/// What a request reads and what it will write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheLookup {
    /// The position whose prefix is read.
    pub read: Option<usize>,
    /// The breakpoints at which an entry is written, each with the entry's lifetime.
    pub written: Vec<(usize, CacheLifetime)>,
    /// Why no longer prefix was read.
    pub missed: Option<CacheMissReason>,
    /// Breakpoints whose prefix is too short to be cached.
    pub too_short: Vec<usize>,
}

/// Why a prefix that was once written was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheMissReason {
    /// The entry's lifetime was over.
    Expired {
        /// The position where the entry ends.
        index: usize,
        /// Milliseconds since it expired.
        since_ms: u64,
    },
    /// The entry was evicted.
    Evicted {
        /// The position where the entry ends.
        index: usize,
    },
    /// The response to the request that writes the entry had not begun.
    NotYetReadable {
        /// The position where the entry ends.
        index: usize,
        /// Milliseconds until it can be read.
        for_ms: u64,
    },
    /// The entry is further back than a breakpoint looks.
    OutOfReach {
        /// The position where the entry ends.
        index: usize,
        /// The distance in positions to the nearest breakpoint after it.
        distance: usize,
    },
    /// No such prefix was ever written.
    NeverWritten,
}

impl SimPromptCache {
    /// Looks a prompt up. Nothing changes until [`SimPromptCache::commit`].
    pub(crate) fn look_up(&self, ask: &CacheQuery<'_>) -> CacheLookup {
        let prompt = ask.prompt;
        let long_enough = |index: usize| prompt.up_to(index + 1) >= ask.minimum;
        let read = prompt
            .breakpoints()
            .rev()
            .find_map(|(breakpoint, _)| self.walk_back(ask, breakpoint));
        let breakpoints = prompt.breakpoints();
        let (written, too_short): (Vec<_>, Vec<_>) =
            breakpoints.partition(|(index, _)| long_enough(*index));
        let last = written.last().map(|(index, _)| *index);
        let missed = last
            .filter(|last| read.is_none_or(|read| read < *last))
            .map(|last| self.explain(ask, read, last));
        CacheLookup {
            read,
            // Entries that are read are refreshed, which has the same effect as writing them again.
            written,
            missed,
            too_short: too_short.into_iter().map(|(index, _)| index).collect(),
        }
    }

    fn walk_back(&self, ask: &CacheQuery<'_>, breakpoint: usize) -> Option<usize> {
        let lowest = (breakpoint + 1).saturating_sub(LOOK_BACK);
        (lowest..=breakpoint)
            .rev()
            .find(|&index| self.is_readable(ask, index))
    }

    fn is_readable(&self, ask: &CacheQuery<'_>, index: usize) -> bool {
        let position = ask.prompt.positions.get(index);
        let entry = position.and_then(|position| self.get(ask.scope, position.prefix));
        entry.is_some_and(|entry| entry.is_live(ask.now))
    }

    /// Finds the longest prefix that was ever written, and explains why it was not read.
    fn explain(&self, ask: &CacheQuery<'_>, read: Option<usize>, last: usize) -> CacheMissReason {
        let lowest = read.map_or(0, |read| read + 1);
        let positions = ask.prompt.positions.get(lowest..=last).unwrap_or_default();
        let written = positions
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, position)| {
                let entry = self.get(ask.scope, position.prefix)?;
                Some((lowest + at, entry))
            });
        let Some((index, entry)) = written else {
            return CacheMissReason::NeverWritten;
        };
        let now = ask.now.0;
        let nearest = ask.prompt.markers.iter().find(|marker| **marker >= index);
        match () {
            () if entry.evicted => CacheMissReason::Evicted { index },
            () if entry.expires() <= ask.now => CacheMissReason::Expired {
                index,
                since_ms: now - entry.expires().0,
            },
            () if entry.readable > ask.now => CacheMissReason::NotYetReadable {
                index,
                for_ms: entry.readable.0 - now,
            },
            () => CacheMissReason::OutOfReach {
                index,
                distance: nearest.map_or(0, |marker| marker - index),
            },
        }
    }
}

//! Writes to the cache what a request's lookup found: the entries that were used live longer, and new ones are written.

use super::entries::CachedPrefix;
use super::{CacheLookup, CacheQuery, SimPromptCache};
use crate::call::VirtualMillis;

impl SimPromptCache {
    /// Applies a lookup: refreshes the entries that the request used, and writes at its breakpoints.
    ///
    /// The used entries are the one that was read and those at the request's own breakpoints before it, which the read
    /// prefix contains. An entry keeps the lifetime it was written with.
    pub(crate) fn commit(
        &mut self,
        ask: &CacheQuery<'_>,
        found: &CacheLookup,
        readable: VirtualMillis,
    ) {
        let read = found.read.map_or(0, |index| index + 1);
        let hit = found.read.and_then(|index| ask.prompt.positions.get(index));
        if let Some(entry) = hit.and_then(|hit| self.entries.get_mut(&(ask.scope, hit.prefix))) {
            entry.used = entry.used.max(ask.now);
        }
        for &(index, ttl) in &found.written {
            let Some(position) = ask.prompt.positions.get(index) else {
                continue;
            };
            let fresh = CachedPrefix {
                ttl,
                written: ask.now,
                used: ask.now,
                // Positions inside the read prefix are in the cache already.
                readable: if index < read { ask.now } else { readable },
                evicted: false,
            };
            let slot = self.entries.entry((ask.scope, position.prefix));
            slot.and_modify(|entry| {
                if entry.evicted || entry.expires() <= ask.now {
                    *entry = fresh
                } else {
                    // If two requests write the same prefix at once, the first response makes it readable.
                    entry.used = entry.used.max(ask.now);
                    entry.readable = entry.readable.min(fresh.readable);
                    entry.ttl = entry.ttl.max(if index < read { entry.ttl } else { ttl });
                }
            })
            .or_insert(fresh);
        }
        self.sweep(ask.now);
    }
}

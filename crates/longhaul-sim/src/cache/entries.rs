//! The entries: what is kept for how long, and for whom.

use std::collections::HashMap;

use longhaul_core::xxh3::xxh3_64;

use super::{CacheLookup, CacheQuery};
use crate::call::VirtualMillis;
use crate::request::CacheLifetime;

/// Entries kept before those long dead are thrown out.
const SWEEP_AT: usize = 1 << 16;

/// Whose cache it is: an API key stands for organisation and workspace. The model is part of every prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheAccount(u64);

impl CacheAccount {
    /// The cache of a key.
    pub fn of_key(key: &str) -> Self {
        Self(xxh3_64(key.as_bytes()))
    }
}

/// One cached prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedPrefix {
    /// How long it lives after each use.
    pub ttl: CacheLifetime,
    /// When the request started that wrote it.
    pub written: VirtualMillis,
    /// When the request started that last used it.
    pub used: VirtualMillis,
    /// When the first response to it began.
    pub readable: VirtualMillis,
    /// Thrown out before its time.
    pub evicted: bool,
}

impl CachedPrefix {
    /// When it dies if it is not used again.
    pub fn expires(&self) -> VirtualMillis {
        VirtualMillis(self.used.0.saturating_add(lifetime(self.ttl)))
    }

    /// Whether it can be read.
    pub fn is_live(&self, now: VirtualMillis) -> bool {
        !self.evicted && self.readable <= now && now < self.expires()
    }
}

/// Milliseconds of a lifetime.
fn lifetime(ttl: CacheLifetime) -> u64 {
    match ttl {
        CacheLifetime::FiveMinutes => 5 * 60 * 1_000,
        CacheLifetime::OneHour => 60 * 60 * 1_000,
    }
}

/// All entries. The dead stay for a while, so that a miss can be explained.
#[derive(Debug, Default)]
pub struct SimPromptCache {
    entries: HashMap<(CacheAccount, u128), CachedPrefix>,
    sweep_at: usize,
}

impl SimPromptCache {
    /// The entry for a prefix, dead or alive.
    pub(super) fn get(&self, scope: CacheAccount, prefix: u128) -> Option<&CachedPrefix> {
        self.entries.get(&(scope, prefix))
    }

    /// Books what a request found: refreshes what it used, writes at its breakpoints.
    ///
    /// Used are the entry that was read and those at the request's own breakpoints before it, which the read prefix
    /// contains. An entry keeps the lifetime it was written with.
    pub fn commit(&mut self, ask: &CacheQuery<'_>, found: &CacheLookup, readable: VirtualMillis) {
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
                // What is inside the read prefix is there already.
                readable: if index < read { ask.now } else { readable },
                evicted: false,
            };
            let slot = self.entries.entry((ask.scope, position.prefix));
            slot.and_modify(|entry| {
                if entry.evicted || entry.expires() <= ask.now {
                    *entry = fresh
                } else {
                    // Two requests at once write the same prefix: the first response makes it readable.
                    entry.used = entry.used.max(ask.now);
                    entry.readable = entry.readable.min(fresh.readable);
                    entry.ttl = entry.ttl.max(if index < read { entry.ttl } else { ttl });
                }
            })
            .or_insert(fresh);
        }
        self.sweep(ask.now);
    }

    /// Throws out every live entry, or those of one key. Says how many.
    pub fn evict(&mut self, scope: Option<CacheAccount>) -> usize {
        let mut count = 0;
        for ((owner, _), entry) in &mut self.entries {
            if scope.is_none_or(|scope| scope == *owner) && !entry.evicted {
                entry.evicted = true;
                count += 1;
            }
        }
        count
    }

    /// How many entries can be read now.
    pub fn live(&self, now: VirtualMillis) -> usize {
        self.entries.values().filter(|e| e.is_live(now)).count()
    }

    fn sweep(&mut self, now: VirtualMillis) {
        if self.entries.len() < self.sweep_at.max(SWEEP_AT) {
            return;
        }
        self.entries
            .retain(|_, entry| !entry.evicted && now < entry.expires());
        self.sweep_at = self.entries.len() * 2;
    }
}

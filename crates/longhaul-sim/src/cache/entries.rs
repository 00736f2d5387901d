//! The entries: what is kept for how long, and for whom.

use std::collections::HashMap;

use longhaul_core::xxh3::xxh3_64;

use super::{Ask, Found};
use crate::call::Millis;
use crate::request::Ttl;

/// Entries kept before those long dead are thrown out.
const SWEEP_AT: usize = 1 << 16;

/// Whose cache it is: an API key stands for organisation and workspace. The model is part of every prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope(u64);

impl Scope {
    /// The cache of a key.
    pub fn of_key(key: &str) -> Self {
        Self(xxh3_64(key.as_bytes()))
    }
}

/// One cached prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// How long it lives after each use.
    pub ttl: Ttl,
    /// When the request started that wrote it.
    pub written: Millis,
    /// When the request started that last used it.
    pub used: Millis,
    /// When the first response to it began.
    pub readable: Millis,
    /// Thrown out before its time.
    pub evicted: bool,
}

impl Entry {
    /// When it dies if it is not used again.
    pub fn expires(&self) -> Millis {
        Millis(self.used.0.saturating_add(lifetime(self.ttl)))
    }

    /// Whether it can be read.
    pub fn is_live(&self, now: Millis) -> bool {
        !self.evicted && self.readable <= now && now < self.expires()
    }
}

/// Milliseconds of a lifetime.
fn lifetime(ttl: Ttl) -> u64 {
    match ttl {
        Ttl::FiveMinutes => 5 * 60 * 1_000,
        Ttl::OneHour => 60 * 60 * 1_000,
    }
}

/// All entries. The dead stay for a while, so that a miss can be explained.
#[derive(Debug, Default)]
pub struct Cache {
    entries: HashMap<(Scope, u128), Entry>,
    sweep_at: usize,
}

impl Cache {
    /// The entry for a prefix, dead or alive.
    pub(super) fn get(&self, scope: Scope, prefix: u128) -> Option<&Entry> {
        self.entries.get(&(scope, prefix))
    }

    /// Books what a request found: refreshes what it used, writes at its breakpoints.
    ///
    /// Used are the entry that was read and those at the request's own breakpoints before it, which the read prefix
    /// contains. An entry keeps the lifetime it was written with.
    pub fn commit(&mut self, ask: &Ask<'_>, found: &Found, readable: Millis) {
        let read = found.read.map_or(0, |index| index + 1);
        let hit = found.read.and_then(|index| ask.prompt.positions.get(index));
        if let Some(entry) = hit.and_then(|hit| self.entries.get_mut(&(ask.scope, hit.prefix))) {
            entry.used = entry.used.max(ask.now);
        }
        for &(index, ttl) in &found.written {
            let Some(position) = ask.prompt.positions.get(index) else {
                continue;
            };
            let fresh = Entry {
                ttl,
                written: ask.now,
                used: ask.now,
                // What is inside the read prefix is there already.
                readable: if index < read { ask.now } else { readable },
                evicted: false,
            };
            let slot = self.entries.entry((ask.scope, position.prefix));
            slot.and_modify(|entry| match entry.evicted || entry.expires() <= ask.now {
                true => *entry = fresh,
                false => {
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
    pub fn evict(&mut self, scope: Option<Scope>) -> usize {
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
    pub fn live(&self, now: Millis) -> usize {
        self.entries.values().filter(|e| e.is_live(now)).count()
    }

    fn sweep(&mut self, now: Millis) {
        if self.entries.len() < self.sweep_at.max(SWEEP_AT) {
            return;
        }
        self.entries
            .retain(|_, entry| !entry.evicted && now < entry.expires());
        self.sweep_at = self.entries.len() * 2;
    }
}

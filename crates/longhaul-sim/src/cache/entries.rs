//! The cache entries: what is kept, for how long, and for which account.

use std::collections::HashMap;

use longhaul_core::xxh3::xxh3_64;

use crate::call::VirtualMillis;
use crate::request::CacheLifetime;

/// The number of entries at which those that died long ago are removed.
const SWEEP_AT: usize = 1 << 16;

/// The account that a cache belongs to: an API key stands for organization and workspace. The model is part of every
/// prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CacheAccount(pub(super) u64);

impl CacheAccount {
    /// The account of a key.
    pub(crate) fn of_key(key: &str) -> Self {
        Self(xxh3_64(key.as_bytes()))
    }
}

/// One cached prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CachedPrefix {
    /// How long the entry lives after each use.
    pub ttl: CacheLifetime,
    /// The start of the request that wrote it.
    pub written: VirtualMillis,
    /// The start of the request that last used it.
    pub used: VirtualMillis,
    /// The time when the first response to it began.
    pub readable: VirtualMillis,
    /// Whether it was evicted before its time.
    pub evicted: bool,
}

impl CachedPrefix {
    /// The time at which the entry expires if it is not used again.
    pub(super) fn expires(&self) -> VirtualMillis {
        VirtualMillis(self.used.0.saturating_add(lifetime(self.ttl)))
    }

    /// Whether the entry can be read.
    pub(super) fn is_live(&self, now: VirtualMillis) -> bool {
        !self.evicted && self.readable <= now && now < self.expires()
    }
}

/// The milliseconds of a lifetime.
fn lifetime(ttl: CacheLifetime) -> u64 {
    match ttl {
        CacheLifetime::FiveMinutes => 5 * 60 * 1_000,
        CacheLifetime::OneHour => 60 * 60 * 1_000,
    }
}

/// All entries. Dead ones stay for a while, so that a miss can be explained.
#[derive(Debug, Default)]
pub(crate) struct SimPromptCache {
    pub(super) entries: HashMap<(CacheAccount, u128), CachedPrefix>,
    sweep_at: usize,
}

impl SimPromptCache {
    /// The entry for a prefix, dead or alive.
    pub(super) fn get(&self, scope: CacheAccount, prefix: u128) -> Option<&CachedPrefix> {
        self.entries.get(&(scope, prefix))
    }

    /// All entries with the account and the hash of the prefix that each belongs to.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&(CacheAccount, u128), &CachedPrefix)> {
        self.entries.iter()
    }

    /// Inserts an entry, unless there is one for this prefix that was used later.
    pub(super) fn insert_older(&mut self, scope: CacheAccount, prefix: u128, entry: CachedPrefix) {
        let slot = self.entries.entry((scope, prefix));
        slot.and_modify(|held| {
            if held.evicted || held.used < entry.used {
                *held = entry;
            }
        })
        .or_insert(entry);
    }

    /// Evicts every live entry, or those of one account, and returns how many there were.
    pub(crate) fn evict(&mut self, scope: Option<CacheAccount>) -> usize {
        let mut count = 0;
        for ((owner, _), entry) in &mut self.entries {
            if scope.is_none_or(|scope| scope == *owner) && !entry.evicted {
                entry.evicted = true;
                count += 1;
            }
        }
        count
    }

    /// Removes dead entries if there are many.
    pub(super) fn sweep(&mut self, now: VirtualMillis) {
        if self.entries.len() < self.sweep_at.max(SWEEP_AT) {
            return;
        }
        self.entries
            .retain(|_, entry| !entry.evicted && now < entry.expires());
        self.sweep_at = self.entries.len() * 2;
    }
}

//! The compacted prefixes in memory while they are in use, in two generations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;

use super::loaded_prefix::LoadedPrefix;
use crate::branch::Tenant;
use crate::memory::{Evictable, MemoryBudget, MemoryShare};

/// Bytes of text that are held in memory, in each of two generations.
const BYTES: usize = 32 << 20;
/// They take at most one part in this many of the memory.
const SHARE: usize = 8;

/// The tenant, and the hash of the replaced history.
pub(super) type PrefixKey = (Tenant, u128);
pub(super) type PrefixMap<K, V> = HashMap<K, V, RandomState>;

/// The compacted prefixes in memory.
pub(crate) struct LoadedPrefixes(Mutex<PrefixGenerations>, MemoryShare);

#[derive(Default)]
struct PrefixGenerations {
    newer: PrefixMap<PrefixKey, Arc<LoadedPrefix>>,
    older: PrefixMap<PrefixKey, Arc<LoadedPrefix>>,
    newer_bytes: usize,
    older_bytes: usize,
}

/// A text is held twice: whole, and split into its elements.
fn weight(loaded: &LoadedPrefix) -> usize {
    let prefix = &loaded.prefix;
    2 * prefix.text.len() + prefix.lines.len() + size_of::<LoadedPrefix>()
}

impl PrefixGenerations {
    fn get(&mut self, key: &PrefixKey, most: usize) -> Option<Arc<LoadedPrefix>> {
        if let Some(found) = self.newer.get(key) {
            return Some(Arc::clone(found));
        }
        let found = self.older.remove(key)?;
        self.older_bytes -= weight(&found);
        self.put(*key, Arc::clone(&found), most);
        Some(found)
    }

    fn put(&mut self, key: PrefixKey, loaded: Arc<LoadedPrefix>, most: usize) {
        if self.newer_bytes > most {
            self.older = std::mem::take(&mut self.newer);
            self.older_bytes = std::mem::take(&mut self.newer_bytes);
        }
        self.newer_bytes += weight(&loaded);
        if let Some(before) = self.newer.insert(key, loaded) {
            self.newer_bytes -= weight(&before);
        }
    }

    fn forget(&mut self, key: &PrefixKey) {
        if let Some(gone) = self.newer.remove(key) {
            self.newer_bytes -= weight(&gone);
        }
        if let Some(gone) = self.older.remove(key) {
            self.older_bytes -= weight(&gone);
        }
    }

    fn bytes(&self) -> usize {
        self.newer_bytes + self.older_bytes
    }
}

impl LoadedPrefixes {
    pub(super) fn new(budget: &MemoryBudget) -> Self {
        Self(Mutex::default(), budget.new_share())
    }

    pub(super) fn get(&self, key: &PrefixKey) -> Option<Arc<LoadedPrefix>> {
        self.change(|texts, most| texts.get(key, most))
    }

    pub(super) fn put(&self, key: PrefixKey, loaded: Arc<LoadedPrefix>) {
        self.change(|texts, most| texts.put(key, loaded, most));
    }

    pub(super) fn forget(&self, key: &PrefixKey) {
        self.change(|texts, _| texts.forget(key));
    }

    /// Moves the prefixes of one tenant to another, when the two turn out to be the same.
    pub(super) fn adopt(&self, from: Tenant, to: Tenant) {
        self.change(|texts, _| {
            let PrefixGenerations { newer, older, .. } = texts;
            for texts in [newer, older] {
                let moved: Vec<PrefixKey> = (texts.keys())
                    .filter(|(tenant, _)| *tenant == from)
                    .copied()
                    .collect();
                for key in moved {
                    if let Some(loaded) = texts.remove(&key) {
                        texts.insert((to, key.1), loaded);
                    }
                }
            }
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut PrefixGenerations, usize) -> T) -> T {
        let mut texts = self.lock();
        let most = BYTES.min(self.1.share(SHARE) / 2);
        let done = change(&mut texts, most);
        self.1.set(texts.bytes());
        done
    }

    fn lock(&self) -> MutexGuard<'_, PrefixGenerations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Evictable for LoadedPrefixes {
    fn evict(&self, bytes: usize) {
        self.change(|texts, _| {
            let most = texts.bytes().saturating_sub(bytes);
            texts.older = PrefixMap::default();
            texts.older_bytes = 0;
            if texts.bytes() > most {
                texts.newer = PrefixMap::default();
                texts.newer_bytes = 0;
            }
        });
    }
}

//! A bounded cache that keeps recently used values, in two generations.
//!
//! When the young generation is full it becomes the old one, and the values of the former old generation that were not
//! used since are dropped. A lookup moves the value it finds to the young generation. The cache therefore takes at most
//! twice its capacity and needs no ordering.

use std::hash::Hash;

use foldhash::fast::RandomState;

type Map<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A bounded cache that keeps recently used values, in two generations.
#[derive(Debug)]
pub(crate) struct GenerationalCache<K, V> {
    young: Map<K, (V, usize)>,
    old: Map<K, (V, usize)>,
    room: usize,
    /// How many bytes the values of one generation may take.
    bytes: usize,
    young_bytes: usize,
    old_bytes: usize,
}

impl<K: Eq + Hash, V: Clone> GenerationalCache<K, V> {
    /// A cache that keeps at least the `room` most recently used values, and at most twice as many.
    pub(crate) fn new(room: usize) -> Self {
        Self::within(room, usize::MAX)
    }

    /// Like [`GenerationalCache::new`], for values with a known size: a generation is also full when its values take
    /// `bytes` bytes.
    pub(crate) fn within(room: usize, bytes: usize) -> Self {
        Self {
            young: Map::default(),
            old: Map::default(),
            room: room.max(1),
            bytes,
            young_bytes: 0,
            old_bytes: 0,
        }
    }

    /// How many bytes the values take, as far as their size was given.
    pub(crate) fn bytes(&self) -> usize {
        self.young_bytes + self.old_bytes
    }

    /// Drops the older generation; if that is empty, the younger one.
    pub(crate) fn forget_older(&mut self) {
        if self.old.is_empty() {
            self.young_bytes = 0
        } else {
            self.old_bytes = 0
        }
        if self.old.is_empty() {
            self.young = Map::default()
        } else {
            self.old = Map::default()
        }
    }

    /// The value of a key, if it is cached.
    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, bytes)) = self.old.remove_entry(key)?;
        self.old_bytes -= bytes;
        self.put_weighing(key, value.clone(), bytes);
        Some(value)
    }

    /// Caches a value.
    pub(crate) fn put(&mut self, key: K, value: V) {
        self.put_weighing(key, value, 0);
    }

    /// Caches a value that takes this many bytes.
    pub(crate) fn put_weighing(&mut self, key: K, value: V, bytes: usize) {
        if self.young.len() >= self.room || self.young_bytes > self.bytes {
            self.old = std::mem::take(&mut self.young);
            self.old_bytes = std::mem::take(&mut self.young_bytes);
        }
        self.young_bytes += bytes;
        if let Some((_, before)) = self.young.insert(key, (value, bytes)) {
            self.young_bytes -= before;
        }
    }

    /// Drops the value of a key.
    pub(crate) fn forget(&mut self, key: &K) {
        if let Some((_, bytes)) = self.young.remove(key) {
            self.young_bytes -= bytes;
        }
        if let Some((_, bytes)) = self.old.remove(key) {
            self.old_bytes -= bytes;
        }
    }

    /// The value of a key for modification, or a default value if there is none.
    pub(crate) fn or_default(&mut self, key: K) -> &mut V
    where
        K: Clone,
        V: Default,
    {
        if !self.young.contains_key(&key) {
            let (value, bytes) = self.old.remove(&key).unwrap_or_default();
            self.old_bytes -= bytes;
            self.put_weighing(key.clone(), value, bytes);
        }
        &mut self.young.entry(key).or_default().0
    }

    /// How many values are cached.
    pub(crate) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

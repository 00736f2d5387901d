//! A bounded memory that keeps what was used lately, in two generations.
//!
//! When the young one is full it becomes the old one, and what was old and not used since is forgotten. A look-up moves
//! what it finds to the young one. So at most twice the room is taken, and no order has to be kept.

use std::hash::Hash;

use foldhash::fast::RandomState;

type Map<K, V> = std::collections::HashMap<K, V, RandomState>;

/// See the module.
#[derive(Debug)]
pub struct GenerationalCache<K, V> {
    young: Map<K, (V, usize)>,
    old: Map<K, (V, usize)>,
    room: usize,
    /// Bytes that the values of one generation may take.
    bytes: usize,
    young_bytes: usize,
    old_bytes: usize,
}

impl<K: Eq + Hash, V: Clone> GenerationalCache<K, V> {
    /// One that keeps at least the last `room` used, and at most twice as many.
    pub fn new(room: usize) -> Self {
        Self::within(room, usize::MAX)
    }

    /// The same for values that say how many bytes they take: a generation is full, too, when its values take so many.
    pub fn within(room: usize, bytes: usize) -> Self {
        Self {
            young: Map::default(),
            old: Map::default(),
            room: room.max(1),
            bytes,
            young_bytes: 0,
            old_bytes: 0,
        }
    }

    /// What the values take, as far as they said.
    pub fn bytes(&self) -> usize {
        self.young_bytes + self.old_bytes
    }

    /// Forgets the older half; if there is none, the younger.
    pub fn forget_older(&mut self) {
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

    /// What is known of a key.
    pub fn get(&mut self, key: &K) -> Option<V> {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, bytes)) = self.old.remove_entry(key)?;
        self.old_bytes -= bytes;
        self.put_weighing(key, value.clone(), bytes);
        Some(value)
    }

    /// Keeps a value.
    pub fn put(&mut self, key: K, value: V) {
        self.put_weighing(key, value, 0);
    }

    /// Keeps a value that takes so many bytes.
    pub fn put_weighing(&mut self, key: K, value: V, bytes: usize) {
        if self.young.len() >= self.room || self.young_bytes > self.bytes {
            self.old = std::mem::take(&mut self.young);
            self.old_bytes = std::mem::take(&mut self.young_bytes);
        }
        self.young_bytes += bytes;
        if let Some((_, before)) = self.young.insert(key, (value, bytes)) {
            self.young_bytes -= before;
        }
    }

    /// Forgets what is known of a key.
    pub fn forget(&mut self, key: &K) {
        if let Some((_, bytes)) = self.young.remove(key) {
            self.young_bytes -= bytes;
        }
        if let Some((_, bytes)) = self.old.remove(key) {
            self.old_bytes -= bytes;
        }
    }

    /// What is known of a key, to be changed; a default where nothing is.
    pub fn or_default(&mut self, key: K) -> &mut V
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

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

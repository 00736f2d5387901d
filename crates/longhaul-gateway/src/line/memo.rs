//! A bounded memory that keeps what was used lately, in two generations.
//!
//! When the young one is full it becomes the old one, and what was old and not used since is forgotten. A look-up moves
//! what it finds to the young one. So at most twice the room is taken, and no order has to be kept.

use std::hash::Hash;

use foldhash::fast::RandomState;

type Map<K, V> = std::collections::HashMap<K, V, RandomState>;

/// See the module.
#[derive(Debug)]
pub struct Generations<K, V> {
    young: Map<K, V>,
    old: Map<K, V>,
    room: usize,
}

impl<K: Eq + Hash, V: Clone> Generations<K, V> {
    /// One that keeps at least the last `room` used, and at most twice as many.
    pub fn new(room: usize) -> Self {
        Self {
            young: Map::default(),
            old: Map::default(),
            room: room.max(1),
        }
    }

    /// What is known of a key.
    pub fn get(&mut self, key: &K) -> Option<V> {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, value) = self.old.remove_entry(key)?;
        self.put(key, value.clone());
        Some(value)
    }

    /// Keeps a value.
    pub fn put(&mut self, key: K, value: V) {
        if self.young.len() >= self.room {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    /// Forgets what is known of a key.
    pub fn forget(&mut self, key: &K) {
        self.young.remove(key);
        self.old.remove(key);
    }

    /// What is known of a key, to be changed; a default where nothing is.
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        K: Clone,
        V: Default,
    {
        if !self.young.contains_key(&key) {
            let value = self.old.remove(&key).unwrap_or_default();
            self.put(key.clone(), value);
        }
        self.young.entry(key).or_default()
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

//! The share of a cache in the budget.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::budget::MemoryBudget;

/// The size of one cache. It may exceed what fits: each cache limits itself to a share of the budget, so that there is
/// memory left for requests.
#[derive(Debug)]
pub struct MemoryShare {
    budget: MemoryBudget,
    bytes: AtomicUsize,
}

impl MemoryBudget {
    /// A share for cached things.
    pub fn new_share(&self) -> MemoryShare {
        MemoryShare {
            budget: self.clone(),
            bytes: AtomicUsize::new(0),
        }
    }
}

impl MemoryShare {
    /// Sets the current size of the cache.
    pub fn set(&self, bytes: usize) {
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        match bytes.checked_sub(before) {
            Some(more) => self.budget.add(more),
            None => self.budget.give_back(before - bytes),
        }
    }

    /// The current size of the cache.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// One part in this many of the whole budget: the most that this cache should take.
    pub fn share(&self, part: usize) -> usize {
        self.budget.limit() / part.max(1)
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.set(0);
    }
}

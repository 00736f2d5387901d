//! An account for things that are kept for later.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::budget::MemoryBudget;

/// What one keeper keeps. It may be told more than fits: what is kept is bounded by whoever keeps it, to a share of the
/// budget, so that requests find room.
#[derive(Debug)]
pub struct MemoryShare {
    budget: MemoryBudget,
    bytes: AtomicUsize,
}

impl MemoryShare {
    pub(super) fn new(budget: MemoryBudget) -> Self {
        Self {
            budget,
            bytes: AtomicUsize::new(0),
        }
    }

    /// So much is kept now.
    pub fn set(&self, bytes: usize) {
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        match bytes.checked_sub(before) {
            Some(more) => self.budget.add(more),
            None => self.budget.give_back(before - bytes),
        }
    }

    /// How much that is.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// One part in so many of the whole budget: the most that this keeper should keep.
    pub fn share(&self, part: usize) -> usize {
        self.budget.limit() / part.max(1)
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.set(0);
    }
}

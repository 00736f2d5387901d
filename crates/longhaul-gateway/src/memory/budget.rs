//! The budget itself: a limit, how much of it is used, and which caches can be evicted. `charge.rs` and `share.rs` take
//! from it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The bytes do not fit, even after evicting everything that can be evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the memory budget of {limit} bytes is used up")]
pub struct BudgetExhausted {
    /// The whole budget.
    pub limit: usize,
}

/// A cache of things that can be produced again, at a cost. An implementation evicts the oldest first, and never waits
/// for long.
pub trait Evictable: Send + Sync {
    /// Evicts at least this many bytes, if it has that many, and updates its [`MemoryShare`](super::MemoryShare).
    fn evict(&self, bytes: usize);
}

/// The memory budget. Clones refer to the same budget.
#[derive(Clone)]
pub struct MemoryBudget(Arc<MemoryBudgetState>);

struct MemoryBudgetState {
    limit: usize,
    used: AtomicUsize,
    caches: Mutex<Vec<Weak<dyn Evictable>>>,
}

impl std::fmt::Debug for MemoryBudget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget")
            .field("limit", &self.0.limit)
            .field("used", &self.used())
            .finish()
    }
}

impl MemoryBudget {
    /// A budget of this many bytes.
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(MemoryBudgetState {
            limit,
            used: AtomicUsize::new(0),
            caches: Mutex::default(),
        }))
    }

    /// The total of the budget.
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    /// How much of the budget is used.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Registers a cache that is evicted when there is too little memory. Caches are evicted in the order of
    /// registration.
    pub fn join(&self, cache: Weak<dyn Evictable>) {
        let caches = self.0.caches.lock();
        caches.unwrap_or_else(PoisonError::into_inner).push(cache);
    }

    pub(super) fn add_if_it_fits(&self, bytes: usize) -> Result<(), BudgetExhausted> {
        if self.fits(bytes) {
            return Ok(());
        }
        self.make_room(bytes);
        if self.fits(bytes) {
            Ok(())
        } else {
            Err(BudgetExhausted {
                limit: self.0.limit,
            })
        }
    }

    fn fits(&self, bytes: usize) -> bool {
        let more = |used: usize| {
            let then = used.checked_add(bytes)?;
            (then <= self.0.limit).then_some(then)
        };
        (self.0.used)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    fn make_room(&self, bytes: usize) {
        let caches = self.0.caches.lock();
        // Eviction may take a while, and may drop charges: the lock is not held during it.
        let caches: Vec<_> = (caches.unwrap_or_else(PoisonError::into_inner).iter())
            .filter_map(Weak::upgrade)
            .collect();
        for cache in caches {
            let wanted = self.used().saturating_add(bytes);
            match wanted.checked_sub(self.0.limit) {
                Some(missing @ 1..) => cache.evict(missing),
                _ => return,
            }
        }
    }

    pub(super) fn add(&self, bytes: usize) {
        self.0.used.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.0.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

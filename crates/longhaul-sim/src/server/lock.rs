//! How the state of the server is locked.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose content stays valid even if a holder panicked.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Connections that have not sent anything yet. When all slots are taken, the oldest of them is closed: a client that
//! opens connections and stays silent cannot lock others out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// The silent connections. Clones share the same registry.
#[derive(Debug, Clone, Default)]
pub(super) struct SilentConnections(Arc<SilentRegistry>);

#[derive(Debug, Default)]
struct SilentRegistry {
    next: AtomicU64,
    by_age: Mutex<BTreeMap<u64, CancellationToken>>,
}

/// A silent connection, registered until it is dropped.
#[derive(Debug)]
pub(super) struct SilentConnection {
    all: SilentConnections,
    number: u64,
}

impl SilentConnections {
    /// Registers a new connection; the token is cancelled when the connection must make room.
    pub(super) fn join(&self) -> (SilentConnection, CancellationToken) {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let closed = CancellationToken::new();
        self.by_age().insert(number, closed.clone());
        let all = self.clone();
        (SilentConnection { all, number }, closed)
    }

    /// Closes the oldest silent connection, if there is one.
    pub(super) fn close_oldest(&self) {
        let oldest = self.by_age().pop_first();
        if let Some((_, closed)) = oldest {
            closed.cancel();
        }
    }

    fn by_age(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, CancellationToken>> {
        self.0.by_age.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SilentConnection {
    fn drop(&mut self) {
        self.all.by_age().remove(&self.number);
    }
}

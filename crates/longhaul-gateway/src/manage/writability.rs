//! Whether results can be stored: a summary that cannot be stored is paid for and useless (O2).

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::store::PrefixStore;

/// After this many failures in a row, no more summaries are requested.
const MOST_UNKEPT: u32 = 3;
/// How often the store is probed after failures.
const TRY_EVERY: Duration = Duration::from_secs(5);
/// How long a probe may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Tracks whether the store accepts new prefixes.
#[derive(Debug, Default)]
pub(crate) struct StoreWritability {
    unkept: AtomicU32,
    tried: Mutex<Option<Instant>>,
}

impl StoreWritability {
    /// A prefix was stored.
    pub(crate) fn kept(&self) {
        if self.unkept.swap(0, Ordering::Relaxed) >= MOST_UNKEPT {
            tracing::info!("summaries can be kept again");
        }
    }

    /// A prefix could not be stored.
    pub(crate) fn not_kept(&self) {
        if self.unkept.fetch_add(1, Ordering::Relaxed) + 1 == MOST_UNKEPT {
            tracing::warn!(
                "summaries cannot be kept: none is requested until one can be; check the store and the disk"
            );
        }
    }

    /// Whether a prefix that is made now can be stored, as far as is known. After failures, the store is probed from
    /// time to time with a tiny write.
    pub(crate) async fn is_possible(&self, store: &Arc<dyn PrefixStore>) -> bool {
        if self.unkept.load(Ordering::Relaxed) < MOST_UNKEPT {
            return true;
        }
        {
            let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
            if tried.is_some_and(|tried| tried.elapsed() < TRY_EVERY) {
                return false;
            }
            *tried = Some(Instant::now());
        }
        let probed = tokio::time::timeout(PATIENCE, store.probe()).await;
        let possible = matches!(probed, Ok(Ok(())));
        if possible {
            self.kept();
        }
        possible
    }
}

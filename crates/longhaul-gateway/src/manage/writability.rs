//! Whether what is made can be kept: a summary that cannot is paid for and of no use (O2).

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::store::PrefixStore;

/// So many in a row that could not be kept, and no more are asked for.
const MOST_UNKEPT: u32 = 3;
/// How often it is tried whether one could be kept now.
const TRY_EVERY: Duration = Duration::from_secs(5);
/// How long that may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct StoreWritability {
    unkept: AtomicU32,
    tried: Mutex<Option<Instant>>,
}

impl StoreWritability {
    /// One was kept.
    pub(crate) fn kept(&self) {
        if self.unkept.swap(0, Ordering::Relaxed) >= MOST_UNKEPT {
            tracing::info!("summaries can be kept again");
        }
    }

    /// One could not be.
    pub(crate) fn not_kept(&self) {
        if self.unkept.fetch_add(1, Ordering::Relaxed) + 1 == MOST_UNKEPT {
            tracing::warn!(
                "summaries cannot be kept: none is asked for until one can be; check the store and the disk"
            );
        }
    }

    /// Whether one that is made now can be kept, as far as is known. After failures, that is tried now and then by writing
    /// next to nothing.
    pub(crate) async fn is_possible(&self, shelf: &Arc<dyn PrefixStore>) -> bool {
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
        let probed = tokio::time::timeout(PATIENCE, shelf.probe()).await;
        let possible = matches!(probed, Ok(Ok(())));
        if possible {
            self.kept();
        }
        possible
    }
}

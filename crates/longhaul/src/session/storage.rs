//! What is written to disk, off the runtime's threads: a locked file or a slow disk makes this session wait, and no other
//! task. One thing is written at a time, so the order is the engine's.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use longhaul_core::engine::{EffectId, Failed, Outcome};
use longhaul_core::message::Entry;
use longhaul_store::Lease;
use tokio::task::JoinHandle;

use crate::keeper::{Archived, Keeper, Waits};

/// Something to write.
pub(super) enum Writing {
    /// Lines of the transcript.
    Lines(Vec<Bytes>),
    /// What is about to leave the window.
    Archive(Vec<Entry>, Option<Vec<String>>),
}

/// Where a session is kept, and what is on its way there.
pub(super) struct Storage {
    keeper: Arc<Mutex<Box<dyn Keeper>>>,
    waits: Waits,
    running: Option<(EffectId, JoinHandle<Outcome>)>,
    /// Keeps other processes from opening the session while something is written.
    lease: Option<Arc<Lease>>,
}

impl Storage {
    pub(super) fn new(keeper: Box<dyn Keeper>, lease: Option<Arc<Lease>>) -> Self {
        Self {
            waits: keeper.waits(),
            keeper: Arc::new(Mutex::new(keeper)),
            running: None,
            lease,
        }
    }

    /// Whether something is on its way.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Begins to write. Gives what came of it where that takes no time.
    pub(super) fn begin(&mut self, id: EffectId, writing: Writing) -> Option<Outcome> {
        let (keeper, lease) = (Arc::clone(&self.keeper), self.lease.clone());
        let write = move || {
            let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
            let outcome = written(&mut **keeper, writing);
            drop(lease);
            outcome
        };
        if self.waits == Waits::Never {
            return Some(write());
        }
        self.running = Some((id, tokio::task::spawn_blocking(write)));
        None
    }

    /// What comes of what is on its way; never, if nothing is. Nothing is lost if this is dropped.
    pub(super) async fn next(&mut self) -> (EffectId, Outcome) {
        let Some((id, running)) = &mut self.running else {
            return std::future::pending().await;
        };
        let (id, ended) = (*id, running.await);
        self.running = None;
        let lost = |_| Outcome::Failed(Failed::other("writing ended in a panic, which is a bug"));
        (id, ended.unwrap_or_else(lost))
    }
}

fn written(keeper: &mut dyn Keeper, writing: Writing) -> Outcome {
    let done = match writing {
        Writing::Lines(lines) => keeper
            .persist(&lines)
            .map(|offset| Outcome::Persisted { offset }),
        Writing::Archive(entries, results) => {
            let archived = keeper.archive(entries, results);
            let archived = archived.inspect_err(|error| tracing::warn!(%error, "not archived"));
            archived.map(|archived| match archived {
                Archived::InArchive => Outcome::Archived,
                Archived::InTranscript => Outcome::NoArchive,
            })
        }
    };
    done.unwrap_or_else(|error| Outcome::Failed(Failed::other(error.to_string())))
}

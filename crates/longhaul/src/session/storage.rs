//! Writes to disk off the runtime's threads: a locked file or a slow disk makes this session wait, and no other task.
//! One thing is written at a time, so the order is the engine's.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use longhaul_core::engine::{EffectFailure, EffectId, EffectOutcome};
use longhaul_core::message::Entry;
use longhaul_store::Lease;
use tokio::task::JoinHandle;

use crate::storage::{ArchiveLocation, BlockingWrites, SessionStorage};

/// Something to write.
pub(super) enum StorageWrite {
    /// Lines of the transcript.
    Lines(Vec<Bytes>),
    /// Entries that are about to leave the window.
    Archive(Vec<Entry>, Option<Vec<String>>),
}

/// The storage of a session, and the write that is in progress.
pub(super) struct StorageWriter {
    storage: Arc<Mutex<Box<dyn SessionStorage>>>,
    waits: BlockingWrites,
    running: Option<(EffectId, JoinHandle<EffectOutcome>)>,
    /// Keeps other processes from opening the session while something is written.
    lease: Option<Arc<Lease>>,
}

impl StorageWriter {
    pub(super) fn new(keeper: Box<dyn SessionStorage>, lease: Option<Arc<Lease>>) -> Self {
        Self {
            waits: keeper.waits(),
            storage: Arc::new(Mutex::new(keeper)),
            running: None,
            lease,
        }
    }

    /// Whether a write is in progress.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Starts a write. Returns its outcome if the write takes no time.
    pub(super) fn begin(&mut self, id: EffectId, writing: StorageWrite) -> Option<EffectOutcome> {
        let (keeper, lease) = (Arc::clone(&self.storage), self.lease.clone());
        let write = move || {
            let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
            let outcome = written(&mut **keeper, writing);
            drop(lease);
            outcome
        };
        if self.waits == BlockingWrites::Never {
            return Some(write());
        }
        self.running = Some((id, tokio::task::spawn_blocking(write)));
        None
    }

    /// Waits for the outcome of the current write; for ever, if there is none. Nothing is lost if this future is
    /// dropped.
    pub(super) async fn next(&mut self) -> (EffectId, EffectOutcome) {
        let Some((id, running)) = &mut self.running else {
            return std::future::pending().await;
        };
        let (id, ended) = (*id, running.await);
        self.running = None;
        let lost = |_| {
            EffectOutcome::Failed(EffectFailure::other(
                "writing ended in a panic, which is a bug",
            ))
        };
        (id, ended.unwrap_or_else(lost))
    }
}

fn written(keeper: &mut dyn SessionStorage, writing: StorageWrite) -> EffectOutcome {
    let done = match writing {
        StorageWrite::Lines(lines) => keeper
            .persist(&lines)
            .map(|offset| EffectOutcome::Persisted { offset }),
        StorageWrite::Archive(entries, results) => {
            let archived = keeper.archive(entries, results);
            let archived = archived.inspect_err(|error| tracing::warn!(%error, "not archived"));
            archived.map(|archived| match archived {
                ArchiveLocation::InArchive => EffectOutcome::Archived,
                ArchiveLocation::InTranscript => EffectOutcome::NoArchive,
            })
        }
    };
    done.unwrap_or_else(|error| EffectOutcome::Failed(EffectFailure::other(error.to_string())))
}

//! Writes to the storage off the runtime's threads: a locked file or a slow disk makes this session wait, and no other
//! task. One thing is written at a time, so the order is the engine's.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::engine::{EffectFailure, EffectId, EffectOutcome};
use longhaul_core::message::Entry;
use longhaul_store::Lease;
use tokio::task::JoinHandle;

use crate::storage::{
    AppendPosition, ArchiveLocation, BlockingWrites, DepartingEntries, DepartingPart, Storage,
};

/// Something to write.
pub(super) enum StorageWrite {
    /// Lines of the transcript.
    Lines(Vec<Bytes>),
    /// Entries that are about to leave the window.
    Archive(Vec<Entry>, Option<Vec<String>>),
}

/// The storage of a session, and the write that is in progress.
pub(super) struct StorageWriter {
    storage: Arc<dyn Storage>,
    /// Where the lines so far end, for a storage that has no offsets of its own.
    end: u64,
    running: Option<(EffectId, JoinHandle<EffectOutcome>)>,
    /// Keeps other processes from opening the session while something is written.
    lease: Option<Arc<Lease>>,
}

impl StorageWriter {
    /// Writes to a storage whose lines end at this offset.
    pub(super) fn new(storage: Arc<dyn Storage>, end: u64, lease: Option<Arc<Lease>>) -> Self {
        Self {
            storage,
            end,
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
        let (storage, lease) = (Arc::clone(&self.storage), self.lease.clone());
        let start = self.end;
        if let StorageWrite::Lines(lines) = &writing {
            // After a failure this leaves a gap, which does no harm: only the order matters.
            self.end += lines.iter().map(|line| line.len() as u64 + 1).sum::<u64>();
        }
        let write = move || {
            let outcome = written(&*storage, start, writing);
            drop(lease);
            outcome
        };
        if self.storage.blocking_writes() == BlockingWrites::Never {
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

fn written(storage: &dyn Storage, start: u64, writing: StorageWrite) -> EffectOutcome {
    let done = match writing {
        StorageWrite::Lines(lines) => storage.append(&lines).map(|position| {
            let offset = match position {
                AppendPosition::AfterLast => start,
                AppendPosition::Offset(offset) => offset,
            };
            EffectOutcome::Persisted { offset }
        }),
        StorageWrite::Archive(entries, results) => {
            let part = results.map_or(DepartingPart::Whole, DepartingPart::Results);
            let archived = storage.archive(DepartingEntries { entries, part });
            let archived = archived.inspect_err(|error| tracing::warn!(%error, "not archived"));
            archived.map(|archived| match archived {
                ArchiveLocation::InArchive => EffectOutcome::Archived,
                ArchiveLocation::InTranscript => EffectOutcome::NoArchive,
            })
        }
    };
    done.unwrap_or_else(|error| EffectOutcome::Failed(EffectFailure::other(error.to_string())))
}

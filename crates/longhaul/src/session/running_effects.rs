//! The effects that are being performed. Writes to the storage run off the runtime's threads, one at a time. What a turn or a
//! compaction waits for makes progress only while the session is driven, and is kept here, so that a host that stops
//! driving loses nothing. Background work are tasks, which run even while nobody drives the session; dropping this ends
//! them.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::select_all;
use longhaul_core::engine::{EffectFailure, EffectId, EffectOutcome};
use longhaul_core::message::Entry;
use longhaul_provider::Reply;
use longhaul_store::Lease;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};

use crate::model::Boxed;
use crate::storage::{
    AppendPosition, ArchiveLocation, BlockingWrites, DepartingEntries, DepartingPart, Storage,
};

/// The result of an effect.
#[derive(Debug)]
pub(super) struct EffectResult {
    /// The outcome for the engine.
    pub(super) outcome: EffectOutcome,
    /// The reply for the host.
    pub(super) reply: Option<Box<Reply>>,
}

impl From<EffectOutcome> for EffectResult {
    fn from(outcome: EffectOutcome) -> Self {
        Self {
            outcome,
            reply: None,
        }
    }
}

/// Something to write.
pub(super) enum StorageWrite {
    /// Lines of the transcript.
    Lines(Vec<Bytes>),
    /// Entries that are about to leave the window.
    Archive(Vec<Entry>, Option<Vec<String>>),
}

/// What a task in the background is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BackgroundWork {
    /// The task takes notes, which are worth waiting for even when the session ends.
    Notes,
    /// The task prepares something that only this session can use.
    Preparation,
}

/// The effects of a session that are being performed, and the storage that its writes go to.
pub(super) struct RunningEffects {
    storage: Arc<dyn Storage>,
    /// Where the lines so far end, for a storage that has no offsets of its own.
    end: u64,
    /// Keeps other processes from opening the session while something is written.
    lease: Option<Arc<Lease>>,
    writing: Option<(EffectId, JoinHandle<EffectOutcome>)>,
    awaited: Vec<(EffectId, Boxed<'static, EffectResult>)>,
    tasks: JoinSet<(EffectId, EffectOutcome)>,
    in_background: Vec<(EffectId, BackgroundWork, AbortHandle)>,
}

impl RunningEffects {
    /// Nothing is being performed yet. Writes go to a storage whose lines end at this offset.
    pub(super) fn new(storage: Arc<dyn Storage>, end: u64, lease: Option<Arc<Lease>>) -> Self {
        Self {
            storage,
            end,
            lease,
            writing: None,
            awaited: Vec::new(),
            tasks: JoinSet::new(),
            in_background: Vec::new(),
        }
    }

    /// Starts a write. Returns its outcome if the write takes no time.
    pub(super) fn write(&mut self, id: EffectId, writing: StorageWrite) -> Option<EffectOutcome> {
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
        self.writing = Some((id, tokio::task::spawn_blocking(write)));
        None
    }

    /// Starts what a turn or a compaction waits for.
    pub(super) fn begin(
        &mut self,
        id: EffectId,
        work: impl Future<Output = EffectResult> + Send + 'static,
    ) {
        self.awaited.push((id, Box::pin(work)));
    }

    /// Starts a task in the background. A task that panics counts as failed.
    pub(super) fn begin_in_background(
        &mut self,
        id: EffectId,
        work: BackgroundWork,
        outcome: impl Future<Output = EffectOutcome> + Send + 'static,
    ) {
        let task = async move {
            let ended = AssertUnwindSafe(outcome).catch_unwind().await;
            (id, ended.unwrap_or_else(|_| panicked()))
        };
        let handle = self.tasks.spawn(task);
        self.in_background.push((id, work, handle));
    }

    /// Ends an effect without an outcome. Writes are not ended.
    pub(super) fn cancel(&mut self, id: EffectId) {
        self.awaited.retain(|(running, _)| *running != id);
        for (_, _, task) in self.in_background.iter().filter(|running| running.0 == id) {
            task.abort();
        }
        self.forget(id);
    }

    /// Ends everything that a turn or a compaction waits for; returns what that was.
    pub(super) fn give_up(&mut self) -> Vec<EffectId> {
        self.awaited.drain(..).map(|(id, _)| id).collect()
    }

    /// Whether something runs that a turn or a compaction waits for, writes aside.
    pub(super) fn has_awaited(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Whether a write is in progress.
    pub(super) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// The number of tasks in the background.
    pub(super) fn background_count(&self) -> usize {
        self.in_background.len()
    }

    /// Whether a task in the background is for this.
    pub(super) fn has_in_background(&self, work: BackgroundWork) -> bool {
        let mut tasks = self.in_background.iter();
        tasks.any(|(_, running, _)| *running == work)
    }

    /// The outcome of a background task that has already ended, if there is one.
    pub(super) fn ended_in_background(&mut self) -> Option<(EffectId, EffectOutcome)> {
        loop {
            // An error means that the task was ended: nobody waits for it.
            if let Ok((id, outcome)) = self.tasks.try_join_next()?
                && self.forget(id)
            {
                return Some((id, outcome));
            }
        }
    }

    /// Waits for the next result; for ever, if nothing is being performed. Nothing is lost if this future is dropped.
    pub(super) async fn next(&mut self) -> (EffectId, EffectResult) {
        loop {
            let ended = tokio::select! {
                (id, outcome) = written_next(&mut self.writing) => return (id, outcome.into()),
                ended = awaited_next(&mut self.awaited) => return ended,
                Some(ended) = self.tasks.join_next() => ended,
            };
            // An error means that the task was ended: nobody waits for it.
            if let Ok((id, outcome)) = ended
                && self.forget(id)
            {
                return (id, outcome.into());
            }
        }
    }

    /// Forgets a background task. Returns whether it was still wanted.
    fn forget(&mut self, id: EffectId) -> bool {
        let before = self.in_background.len();
        self.in_background.retain(|running| running.0 != id);
        self.in_background.len() < before
    }
}

/// Waits for the outcome of the current write; for ever, if there is none.
async fn written_next(
    writing: &mut Option<(EffectId, JoinHandle<EffectOutcome>)>,
) -> (EffectId, EffectOutcome) {
    let Some((id, running)) = writing else {
        return std::future::pending().await;
    };
    let (id, ended) = (*id, running.await);
    *writing = None;
    (id, ended.unwrap_or_else(|_| panicked()))
}

/// Waits for the next result that a turn waits for; for ever, if there is none.
async fn awaited_next(
    awaited: &mut Vec<(EffectId, Boxed<'static, EffectResult>)>,
) -> (EffectId, EffectResult) {
    if awaited.is_empty() {
        return std::future::pending().await;
    }
    let (result, at, _) = select_all(awaited.iter_mut().map(|(_, work)| work)).await;
    (awaited.remove(at).0, result)
}

fn panicked() -> EffectOutcome {
    EffectOutcome::Failed(EffectFailure::other(
        "it ended in a panic, which is a bug: please report it",
    ))
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

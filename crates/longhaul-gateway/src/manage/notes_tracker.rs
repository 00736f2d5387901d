//! The notes of all branches: where they are stored, when they were last taken, whether they are being taken now.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use longhaul_core::message::Usage;
use longhaul_core::notes::{NotesTrigger, NotesWait};
use tokio::sync::Notify;

use super::request_context::RequestContext;
use crate::branch::{BranchId, GenerationalCache, SealKey};
use crate::store::{NotesRecord, NotesStore, Sealable as _, StoreError};

/// How many branches are remembered. For others, the time of the last notes is read from the store.
const LINES: usize = 100_000;

/// Notes of all conversations.
pub(super) struct NotesTracker {
    store: Arc<dyn NotesStore>,
    seal: SealKey,
    lines: Mutex<GenerationalCache<BranchId, BranchNotesState>>,
    /// Notified whenever an attempt has ended.
    pub(super) ended: Notify,
}

/// The state of one branch's notes.
#[derive(Debug, Clone)]
pub(super) struct BranchNotesState {
    pub(super) trigger: NotesTrigger,
    /// The usage that led to nothing since notes were last stored.
    pub(super) in_vain: Usage,
    /// Attempts in progress, until their results are stored.
    pub(super) under_way: u32,
    /// Whether there are notes and the last attempt succeeded.
    pub(super) fresh: bool,
}

impl NotesTracker {
    pub(super) fn new(store: Arc<dyn NotesStore>, seal: SealKey) -> Self {
        Self {
            store,
            seal,
            lines: Mutex::new(GenerationalCache::new(LINES)),
            ended: Notify::new(),
        }
    }

    /// Whether a branch has notes that can be relied on.
    pub(super) fn are_fresh(&self, line: BranchId) -> bool {
        self.change(line, |taking| taking.fresh).unwrap_or(false)
    }

    /// Waits for notes that are being taken, but not for long (S6).
    pub(super) async fn taken(&self, line: BranchId, now: Timestamp) {
        let wait = self.change(line, |taking| taking.trigger.wait(now));
        let Some(NotesWait::Until(until)) = wait else {
            return;
        };
        let patience = Duration::try_from(until.duration_since(now)).unwrap_or_default();
        let ended = async {
            loop {
                let mut ended = std::pin::pin!(self.ended.notified());
                ended.as_mut().enable();
                let under_way = self.change(line, |taking| taking.under_way);
                if under_way.unwrap_or(0) == 0 {
                    break;
                }
                ended.await;
            }
        };
        // The existing notes will do: what they do not cover is kept.
        let _ = tokio::time::timeout(patience, ended).await;
    }

    /// The newest notes for the history of a request, if they are intact. Damaged ones are deleted, and the next newest
    /// are tried.
    pub(super) async fn find(
        &self,
        context: &RequestContext,
    ) -> Result<Option<NotesRecord>, StoreError> {
        let tenant = context.tenant;
        loop {
            let hashes = context.messages.recognized.hashes.to_vec();
            let Some(found) = self.store.find_notes(tenant, hashes).await? else {
                return Ok(None);
            };
            let (line, at) = (found.stored.line, found.stored.at);
            if let Some(notes) = found.open(&self.seal) {
                return Ok(Some(notes));
            }
            tracing::warn!(%line, "notes in the store are damaged; they are dropped");
            self.store.discard_notes(tenant, at).await?;
        }
    }

    /// Stores notes. A text in a database has no NUL; the seal is made of the text as it is stored.
    pub(super) async fn put(&self, notes: NotesRecord) -> Result<(), StoreError> {
        let text = notes.text.replace('\0', "\u{fffd}");
        let notes = NotesRecord { text, ..notes };
        self.store.put_notes(notes.sealed(&self.seal)).await
    }

    pub(super) fn knows(&self, line: BranchId) -> bool {
        self.change(line, |_| ()).is_some()
    }

    /// Changes the state of a branch's notes; `None` if the branch is not known.
    pub(super) fn change<T>(
        &self,
        line: BranchId,
        change: impl FnOnce(&mut BranchNotesState) -> T,
    ) -> Option<T> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taking = lines.get(&line)?;
        let result = change(&mut taking);
        lines.put(line, taking);
        Some(result)
    }

    pub(super) fn begin(&self, line: BranchId, taking: BranchNotesState) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.get(&line).is_none() {
            lines.put(line, taking);
        }
    }
}

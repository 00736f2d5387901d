//! The cache watch of all sessions, within its share of the memory: the least recently active sessions are dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use jiff::Timestamp;
use longhaul_core::cache::{CacheBreakDetector, CachePosition, CacheVerdict, WatchedCallId};
use longhaul_core::message::Usage;
use longhaul_core::models::ModelSpec;

use super::fingerprint::RequestFingerprinter;
use super::watched_request::{SeenRequestPrefixes, WatchedRequest};
use crate::branch::GatewaySessionId;
use crate::memory::{Evictable, MemoryBudget, MemoryShare};

/// How many sessions have their cache watched.
const SESSIONS: usize = 512;
/// How many calls in flight are remembered.
const MOST_UNDER_WAY: usize = 65_536;
/// The watch takes at most one part in this many of the memory.
const SHARE: usize = 8;
/// A request that would take more than one part in this many of that share is not watched.
const ONE: usize = 4;

/// The cache watch of all sessions.
pub(super) struct SessionCacheWatch(Mutex<CacheWatchState>);

struct CacheWatchState {
    watch: CacheBreakDetector,
    fingerprints: RequestFingerprinter,
    under_way: HashMap<u64, (WatchedCallId, GatewaySessionId)>,
    heard: HashMap<GatewaySessionId, SessionActivity>,
    clock: u64,
    /// The memory taken for sessions.
    bytes: usize,
    kept: MemoryShare,
}

#[derive(Clone, Copy, Default)]
struct SessionActivity {
    at: u64,
    bytes: usize,
}

impl SessionCacheWatch {
    pub(super) fn new(heads: Arc<SeenRequestPrefixes>, budget: &MemoryBudget) -> Self {
        let kept = budget.new_share();
        let share = kept.share(SHARE);
        Self(Mutex::new(CacheWatchState {
            watch: CacheBreakDetector::default(),
            fingerprints: RequestFingerprinter::new(heads, share / ONE),
            under_way: HashMap::new(),
            heard: HashMap::new(),
            clock: 0,
            bytes: 0,
            kept,
        }))
    }

    /// A request was sent.
    pub(super) fn sent(&self, call: u64, watched: &WatchedRequest, at: Timestamp) {
        self.inner().sent(call, watched, at);
    }

    /// A request was answered: returns the watch's verdict on it.
    pub(super) fn answered(
        &self,
        call: u64,
        usage: &Usage,
        spec: &ModelSpec,
    ) -> Option<CacheVerdict> {
        let mut inner = self.inner();
        let (id, session) = inner.under_way.remove(&call)?;
        let verdict = inner.watch.after(id, usage, Some(spec));
        inner.reckon(session);
        Some(verdict)
    }

    /// A request was not answered, or nothing is known of its response.
    pub(super) fn failed(&self, call: u64) {
        let mut inner = self.inner();
        if let Some((id, session)) = inner.under_way.remove(&call) {
            inner.watch.failed(id);
            inner.reckon(session);
        }
    }

    fn inner(&self) -> MutexGuard<'_, CacheWatchState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheWatchState {
    fn sent(&mut self, call: u64, watched: &WatchedRequest, at: Timestamp) {
        let session = watched.session;
        self.clock += 1;
        self.heard.entry(session).or_default().at = self.clock;
        if self.heard.len() > SESSIONS {
            self.forget_oldest();
        }
        if self.under_way.len() > MOST_UNDER_WAY {
            self.under_way.clear();
        }
        if let Some(mut fingerprint) = self.fingerprints.of(watched, at) {
            fingerprint.prefix_replacement = watched.rewriting;
            let id = self.watch.before(fingerprint);
            self.under_way.insert(call, (id, session));
        }
        self.reckon(session);
        let share = self.kept.share(SHARE);
        self.shrink_to(share);
    }

    fn forget_oldest(&mut self) {
        let oldest = self.heard.iter().min_by_key(|(_, heard)| heard.at);
        if let Some(oldest) = oldest.map(|(session, _)| *session) {
            let heard = self.heard.remove(&oldest).unwrap_or_default();
            self.bytes -= heard.bytes;
            self.watch.forget(&oldest.to_string());
        }
    }

    fn reckon(&mut self, session: GatewaySessionId) {
        if let Some(heard) = self.heard.get_mut(&session) {
            let bytes = self.watch.positions(&session.to_string()) * size_of::<CachePosition>();
            self.bytes = self.bytes + bytes - std::mem::replace(&mut heard.bytes, bytes);
        }
        self.tell();
    }

    fn all(&self) -> usize {
        self.bytes + self.fingerprints.bytes()
    }

    fn shrink_to(&mut self, bytes: usize) {
        while self.all() > bytes && !self.heard.is_empty() {
            self.forget_oldest();
        }
        while self.all() > bytes {
            self.fingerprints.forget_older();
        }
        self.tell();
    }

    fn tell(&self) {
        self.kept.set(self.all());
    }
}

impl Evictable for SessionCacheWatch {
    fn evict(&self, bytes: usize) {
        let mut inner = match self.0.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // A request does not wait for work that is off its path.
            Err(TryLockError::WouldBlock) => return,
        };
        let all = inner.all();
        inner.shrink_to(all.saturating_sub(bytes));
    }
}

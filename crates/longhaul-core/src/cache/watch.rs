//! The watch: what was sent is noted before a call, what was read is judged after it (D1, D2, D4).
//!
//! Calls of one query source may overlap and may belong to several conversations (sub-agents). Each call is compared
//! with the newest settled call of its own conversation at the time it starts (see `track`). A call that settles takes the place of the one it was compared with. Calls that
//! failed, were cancelled or measured nothing are compared with nothing and take no place.

use std::collections::BTreeMap;

use super::finding::CacheFinding;
use super::fingerprint::RequestFingerprint;
use super::measure::CacheMeasurement;
use super::source::{ObservedDeletion, PendingCall, SentCall, WatchedSource};
use super::track::TrackId;
use crate::hash::Set;
use crate::message::Usage;
use crate::models::ModelSpec;

/// Calls under way that are remembered: a host that never says how a call ended must not fill the memory.
const UNDER_WAY: usize = 256;

/// A call that was announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchedCallId(u64);

/// What became of the cache in one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheVerdict {
    /// There is nothing to compare it with: the first of its conversation, or the first after a compaction.
    First,
    /// As much was read as could be expected.
    Steady,
    /// Less was read because something was deleted from the cache on purpose.
    Expected {
        /// How much less.
        lost: u64,
    },
    /// No less was read than before, but what the last call wrote was not.
    Unread(Box<CacheFinding>),
    /// Clearly less was read than before.
    Broke(Box<CacheFinding>),
    /// Not judged: an excluded model, a reply without usage, a call that is not known.
    Ignored,
}

impl CacheVerdict {
    /// The finding, if there is one.
    pub fn finding(&self) -> Option<&CacheFinding> {
        match self {
            Self::Unread(finding) | Self::Broke(finding) => Some(finding),
            _ => None,
        }
    }
}

/// Watches the cache of any number of query sources.
#[derive(Debug)]
pub struct CacheBreakDetector {
    ignores: fn(&str) -> bool,
    sources: BTreeMap<String, WatchedSource>,
    under_way: BTreeMap<WatchedCallId, PendingCall>,
    next: u64,
}

impl Default for CacheBreakDetector {
    fn default() -> Self {
        Self::new(|_| false)
    }
}

impl CacheBreakDetector {
    /// A watch that leaves out the models for which `ignores` says so: small ones, whose cache is not worth a word.
    pub fn new(ignores: fn(&str) -> bool) -> Self {
        Self {
            ignores,
            sources: BTreeMap::new(),
            under_way: BTreeMap::new(),
            next: 0,
        }
    }

    /// Notes a request that is about to be sent. Costs what is new in it, if it is of a known rendering.
    pub fn before(&mut self, sent: RequestFingerprint<'_>) -> WatchedCallId {
        let id = WatchedCallId(self.next);
        self.next += 1;
        if (self.ignores)(&sent.prefix.model) {
            return id;
        }
        let source = self.sources.entry(sent.source.clone()).or_default();
        let call = SentCall {
            id,
            track: source.tracks.take(id, sent.messages),
            marks: sent.breakpoints,
            head: sent.prefix,
            flags: sent.flags,
            started: sent.started,
            rewriting: sent.prefix_replacement,
        };
        let base = source.base(&call).cloned();
        let under_way = PendingCall {
            source: sent.source,
            epoch: source.epoch,
            call,
            base,
        };
        self.under_way.insert(id, under_way);
        while self.under_way.len() > UNDER_WAY {
            self.under_way.pop_first();
        }
        id
    }

    /// Judges a call by what its reply measured. `spec` is that of the model: for prices and its rules.
    pub fn after(
        &mut self,
        id: WatchedCallId,
        usage: &Usage,
        spec: Option<&ModelSpec>,
    ) -> CacheVerdict {
        let Some(done) = self.under_way.remove(&id) else {
            return CacheVerdict::Ignored;
        };
        let verdict = self.judge(&done, usage, spec);
        self.tidy(&done.source);
        verdict
    }

    /// A call failed or was cancelled: it says nothing about the cache.
    pub fn failed(&mut self, id: WatchedCallId) {
        if let Some(gone) = self.under_way.remove(&id) {
            self.tidy(&gone.source);
        }
    }

    /// The conversations of a source were compacted, or rewritten otherwise on purpose: what was cached before says
    /// nothing about what comes (D4).
    pub fn compacted(&mut self, source: &str) {
        if let Some(known) = self.sources.get_mut(source) {
            known.epoch += 1;
            known.settled.clear();
            known.deletion = None;
        }
        self.tidy(source);
    }

    /// So many tokens are deleted from the cache by the next request of a source: a drop up to that is expected (D4).
    pub fn cache_deleted(&mut self, source: &str, tokens: u64) {
        let since = WatchedCallId(self.next);
        let known = self.sources.entry(source.to_owned()).or_default();
        let before = known.deletion.map_or(0, |deletion| deletion.tokens);
        known.deletion = Some(ObservedDeletion {
            tokens: before.saturating_add(tokens),
            since,
        });
    }

    /// How many positions are kept for a source: what it takes in memory grows with them.
    pub fn positions(&self, source: &str) -> usize {
        (self.sources.get(source)).map_or(0, |source| source.tracks.len())
    }

    /// Forgets a source that will not ask again.
    pub fn forget(&mut self, source: &str) {
        self.sources.remove(source);
        self.under_way.retain(|_, call| call.source != source);
    }

    fn judge(
        &mut self,
        done: &PendingCall,
        usage: &Usage,
        spec: Option<&ModelSpec>,
    ) -> CacheVerdict {
        let (Some(now), Some(source)) = (
            CacheMeasurement::of(usage),
            self.sources.get_mut(&done.source),
        ) else {
            return CacheVerdict::Ignored;
        };
        if source.epoch != done.epoch {
            return CacheVerdict::First;
        }
        let deleted = source
            .deletion
            .filter(|deletion| done.call.id >= deletion.since);
        if deleted.is_some() {
            source.deletion = None;
        }
        let deleted = deleted.map_or(0, |deletion| deletion.tokens);
        let verdict = match &done.base {
            None => CacheVerdict::First,
            Some(base) => source.compare(done, base, now, deleted, usage, spec),
        };
        source.settle(done, now);
        verdict
    }

    /// Drops positions that nobody needs any more.
    fn tidy(&mut self, name: &str) {
        let Some(source) = self.sources.get_mut(name) else {
            return;
        };
        let under_way = self.under_way.values().filter(|call| call.source == name);
        let mut used: Set<TrackId> = Set::default();
        for call in under_way {
            used.insert(call.call.track.0);
            used.extend(call.base.iter().map(|base| base.call.track.0));
        }
        used.extend(source.settled.iter().map(|settled| settled.call.track.0));
        source.tracks.keep(&used);
    }
}

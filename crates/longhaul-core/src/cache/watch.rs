//! The cache-break detector: it records each request before a call, and judges the cache read after it (D1, D2, D4).
//!
//! Calls of one query source may overlap and may belong to several conversations (sub-agents). Each call is compared
//! with the newest settled call of its own conversation at the time it starts (see `track`). A call that settles
//! replaces the one it was compared with. Calls that failed, were cancelled or measured nothing are not compared and
//! replace nothing.

use std::collections::BTreeMap;

use super::call_id::WatchedCallId;
use super::fingerprint::RequestFingerprint;
use super::measure::CacheMeasurement;
use super::source::{ObservedDeletion, PendingCall, SentCall, WatchedSource};
use super::track::TrackId;
use super::verdict::CacheVerdict;
use crate::hash::Set;
use crate::message::Usage;
use crate::models::ModelSpec;

/// The number of pending calls that are remembered: a host that never reports the end of a call must not fill the
/// memory.
const UNDER_WAY: usize = 256;

/// Watches the cache of any number of query sources.
///
/// ```
/// use bytes::Bytes;
/// use jiff::Timestamp;
/// use longhaul_core::cache::{CacheBreakDetector, CacheVerdict, RequestFingerprint};
/// use longhaul_core::message::Usage;
///
/// let body = |system: &str| Bytes::from(format!(
///     r#"{{"model":"claude-sonnet-4-6","system":[{{"type":"text","text":"{system}","cache_control":{{"type":"ephemeral"}}}}],
///         "messages":[{{"role":"user","content":"Hello"}}]}}"#
/// ));
/// let mut detector = CacheBreakDetector::new(|_model| false);
/// let mut call = |system: &str, usage: Usage| {
///     let sent = RequestFingerprint::of_body("sdk", Timestamp::UNIX_EPOCH, &body(system), [])?;
///     let id = detector.before(sent);
///     Ok::<_, longhaul_core::cache::BodyError>(detector.after(id, &usage, None))
/// };
/// let read = |cache_read| Usage { input: 10, cache_read, ..Usage::default() };
/// assert_eq!(call("You fix bugs.", read(50_000))?, CacheVerdict::First);
/// assert_eq!(call("You fix bugs.", read(50_000))?, CacheVerdict::Steady);
/// let verdict = call("You fix bugs. It is 10:42.", read(0))?;
/// let finding = verdict.finding().ok_or("a break was expected")?;
/// assert!(matches!(verdict, CacheVerdict::Broke(_)) && !finding.changes.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// Creates a detector that ignores the models for which `ignores` returns true: small ones, whose cache breaks are
    /// not worth reporting.
    pub fn new(ignores: fn(&str) -> bool) -> Self {
        Self {
            ignores,
            sources: BTreeMap::new(),
            under_way: BTreeMap::new(),
            next: 0,
        }
    }

    /// Records a request that is about to be sent. For a known rendering, the cost depends only on what is new.
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
            breakpoints: sent.breakpoints,
            prefix: sent.prefix,
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

    /// Judges a call by its reply's usage. `spec` supplies the model's prices and rules.
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

    /// Forgets a call that failed or was cancelled: it says nothing about the cache.
    pub fn failed(&mut self, id: WatchedCallId) {
        if let Some(gone) = self.under_way.remove(&id) {
            self.tidy(&gone.source);
        }
    }

    /// Notes that the conversations of a source were compacted, or otherwise replaced on purpose: what was cached
    /// before says nothing about later calls (D4).
    pub fn compacted(&mut self, source: &str) {
        if let Some(known) = self.sources.get_mut(source) {
            known.epoch += 1;
            known.settled.clear();
            known.deletion = None;
        }
        self.tidy(source);
    }

    /// Notes that the next request of a source deletes this many tokens from the cache: a drop up to that is expected
    /// (D4).
    pub fn cache_deleted(&mut self, source: &str, tokens: u64) {
        let since = WatchedCallId(self.next);
        let known = self.sources.entry(source.to_owned()).or_default();
        let before = known.deletion.map_or(0, |deletion| deletion.tokens);
        known.deletion = Some(ObservedDeletion {
            tokens: before.saturating_add(tokens),
            since,
        });
    }

    /// The number of positions that are kept for a source; its memory use grows with them.
    pub fn positions(&self, source: &str) -> usize {
        (self.sources.get(source)).map_or(0, |source| source.tracks.len())
    }

    /// Forgets a source that will not be used again.
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

    /// Drops positions that are no longer needed.
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

//! One query source: the newest calls of its conversations, and the verdict on the next one.

use std::sync::Arc;

use jiff::Timestamp;

use super::breakpoint::BreakpointPositions;
use super::call_id::WatchedCallId;
use super::cause::CacheMissCause;
use super::compare::{self, ComparedRequest};
use super::cost::cost_of_cache_miss;
use super::diff;
use super::expectation::{CacheReadExpectation, CacheReadResult};
use super::finding::{CacheFinding, CacheFindingKind};
use super::fingerprint::{HostModes, PrefixFingerprint};
use super::measure::CacheMeasurement;
use super::prefix_replacement::{PrefixReplacement, replaced_prefix};
use super::track::{TrackId, Tracks};
use super::verdict::CacheVerdict;
use crate::message::Usage;
use crate::models::ModelSpec;
use crate::prompt::Ttl;

/// The number of conversations that are remembered per source.
const CONVERSATIONS: usize = 8;

/// A call as it was sent.
#[derive(Debug, Clone)]
pub(super) struct SentCall {
    pub(super) id: WatchedCallId,
    pub(super) track: (TrackId, usize),
    pub(super) breakpoints: BreakpointPositions,
    pub(super) prefix: Arc<PrefixFingerprint>,
    pub(super) flags: Arc<HostModes>,
    pub(super) started: Timestamp,
    pub(super) rewriting: Option<PrefixReplacement>,
}

/// The newest call of a conversation that succeeded.
#[derive(Debug, Clone)]
pub(super) struct SettledCall {
    pub(super) call: SentCall,
    pub(super) measure: CacheMeasurement,
}

#[derive(Debug)]
pub(super) struct PendingCall {
    pub(super) source: String,
    /// The number of compactions before the call.
    pub(super) epoch: u64,
    pub(super) call: SentCall,
    pub(super) base: Option<SettledCall>,
}

#[derive(Debug, Default)]
pub(super) struct WatchedSource {
    pub(super) epoch: u64,
    pub(super) settled: Vec<SettledCall>,
    pub(super) tracks: Tracks,
    pub(super) deletion: Option<ObservedDeletion>,
}

/// Tokens that were deleted from the cache, visible to calls from this one on.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObservedDeletion {
    pub(super) tokens: u64,
    pub(super) since: WatchedCallId,
}

impl WatchedSource {
    /// The settled call that a new one continues.
    pub(super) fn base(&self, call: &SentCall) -> Option<&SettledCall> {
        let akin = self.settled.iter().filter_map(|settled| {
            let shared = self.tracks.kinship(settled.call.track, call.track)?;
            Some((shared, settled))
        });
        akin.max_by_key(|(shared, settled)| (*shared, settled.call.id))
            .map(|(_, settled)| settled)
            .or_else(|| self.before_replacement(call.rewriting?))
    }

    /// The newest settled call of a conversation whose beginning the host has replaced since.
    fn before_replacement(&self, now: PrefixReplacement) -> Option<&SettledCall> {
        let mut newest = self.settled.iter().rev();
        newest.find(|settled| {
            let earlier = settled.call.rewriting;
            earlier.is_some_and(|earlier| now.follows(earlier))
        })
    }

    /// Records a call that succeeded in place of the one that it continued.
    pub(super) fn settle(&mut self, done: &PendingCall, measure: CacheMeasurement) {
        let call = &done.call;
        // A later call of the same conversation may have settled first.
        let overtaken = self.settled.iter().any(|other| {
            other.call.id > call.id
                && other.call.track.1 >= call.track.1
                && self.tracks.kinship(call.track, other.call.track) == Some(call.track.1)
        });
        if overtaken {
            return;
        }
        if let Some(base) = &done.base {
            self.settled.retain(|other| other.call.id != base.call.id);
        }
        self.settled.push(SettledCall {
            call: call.clone(),
            measure,
        });
        if self.settled.len() > CONVERSATIONS {
            self.settled.remove(0);
        }
    }

    pub(super) fn compare(
        &self,
        done: &PendingCall,
        base: &SettledCall,
        now: CacheMeasurement,
        deleted: u64,
        usage: &Usage,
        spec: Option<&ModelSpec>,
    ) -> CacheVerdict {
        let expected = CacheReadExpectation::of(base.measure, now, deleted);
        let (kind, from) = match expected.judge(now.read) {
            CacheReadResult::Less(kind, from) => (kind, from),
            CacheReadResult::AsExpected(lost) => return CacheVerdict::Expected { lost },
            CacheReadResult::Steady => return CacheVerdict::Steady,
        };
        let (was, is) = (self.side(&base.call), self.side(&done.call));
        if summaries(was) != summaries(is) {
            // The provider compacted on its side.
            return CacheVerdict::First;
        }
        let mut changes = compare::changes(was, is, spec);
        let rewritten = replaced_prefix(base.call.rewriting, done.call.rewriting);
        if rewritten.is_some() {
            changes.retain(|change| !change.is_in_messages());
        }
        let idle_seconds = done
            .call
            .started
            .duration_since(base.call.started)
            .as_secs();
        let cause = CacheMissCause::of(&changes, expired(was, idle_seconds), rewritten);
        if cause == CacheMissCause::ServerSide && expected.may_be_off_by(from, now.read) {
            let lost = from.saturating_sub(now.read);
            return CacheVerdict::Expected { lost };
        }
        let missed = expected.cached.saturating_sub(now.read);
        let mut finding = CacheFinding {
            kind,
            source: done.source.clone(),
            model: done.call.prefix.model.clone(),
            at: done.call.started,
            from,
            to: now.read,
            missed,
            cost: spec.and_then(|spec| cost_of_cache_miss(spec, usage, missed)),
            cause,
            changes,
            idle_seconds,
            diff: String::new(),
        };
        finding.diff = diff::render(&top(&finding), &finding.changes, was, is);
        match kind {
            CacheFindingKind::Break => CacheVerdict::Broke(Box::new(finding)),
            CacheFindingKind::Unread => CacheVerdict::Unread(Box::new(finding)),
        }
    }

    fn side<'a>(&'a self, call: &'a SentCall) -> ComparedRequest<'a> {
        ComparedRequest {
            prefix: &call.prefix,
            flags: &call.flags,
            positions: self.tracks.positions(call.track),
            breakpoints: &call.breakpoints,
        }
    }
}

fn top(finding: &CacheFinding) -> String {
    format!(
        "{finding}\n{}, {}, {}; {} s after the request before it",
        finding.source, finding.model, finding.at, finding.idle_seconds
    )
}

/// The provider's own summaries among the messages.
fn summaries(side: ComparedRequest<'_>) -> Option<u64> {
    let mut last = side.positions.iter().rev();
    last.find(|at| at.traits.summary).map(|at| at.hash)
}

/// The longest lifetime that the earlier request asked for and that has expired after this many seconds.
fn expired(before: ComparedRequest<'_>, idle_seconds: i64) -> Option<Ttl> {
    let marks = compare::level_marks(before).into_iter().flatten();
    let over = marks
        .map(|mark| mark.ttl)
        .filter(|ttl| idle_seconds >= ttl.seconds());
    over.max()
}

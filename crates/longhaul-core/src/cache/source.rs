//! One query source: the newest calls of its conversations, and the judgement on the next.

use std::sync::Arc;

use jiff::Timestamp;

use super::cause::Cause;
use super::compare::{self, Side};
use super::cost::cost_of_rewriting;
use super::diff;
use super::expectation::{Expectation, Read};
use super::finding::{Finding, FindingKind};
use super::measure::Measure;
use super::rewriting::{Rewriting, rewritten};
use super::sent::{Flags, Head, Marks};
use super::track::{TrackId, Tracks};
use super::watch::{CallId, Verdict};
use crate::message::Usage;
use crate::models::ModelSpec;
use crate::prompt::Ttl;

/// Conversations of one source that are remembered.
const CONVERSATIONS: usize = 8;

/// A call as it was sent.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: CallId,
    pub(super) track: (TrackId, usize),
    pub(super) marks: Marks,
    pub(super) head: Arc<Head>,
    pub(super) flags: Arc<Flags>,
    pub(super) started: Timestamp,
    pub(super) rewriting: Option<Rewriting>,
}

/// The newest call of a conversation that ended well.
#[derive(Debug, Clone)]
pub(super) struct Settled {
    pub(super) call: Call,
    pub(super) measure: Measure,
}

#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) source: String,
    /// The number of compactions before it.
    pub(super) epoch: u64,
    pub(super) call: Call,
    pub(super) base: Option<Settled>,
}

#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) epoch: u64,
    pub(super) settled: Vec<Settled>,
    pub(super) tracks: Tracks,
    pub(super) deletion: Option<Deletion>,
}

/// Tokens that were deleted from the cache, seen by calls from this one on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deletion {
    pub(super) tokens: u64,
    pub(super) since: CallId,
}

impl Source {
    /// The settled call that a new one goes on from.
    pub(super) fn base(&self, call: &Call) -> Option<&Settled> {
        let akin = self.settled.iter().filter_map(|settled| {
            let shared = self.tracks.kinship(settled.call.track, call.track)?;
            Some((shared, settled))
        });
        akin.max_by_key(|(shared, settled)| (*shared, settled.call.id))
            .map(|(_, settled)| settled)
            .or_else(|| self.before_rewriting(call.rewriting?))
    }

    /// The newest settled call of a conversation whose beginning the host has replaced since.
    fn before_rewriting(&self, now: Rewriting) -> Option<&Settled> {
        let mut newest = self.settled.iter().rev();
        newest.find(|settled| {
            let earlier = settled.call.rewriting;
            earlier.is_some_and(|earlier| now.follows(earlier))
        })
    }

    /// A call that ended well takes the place of the one it went on from.
    pub(super) fn settle(&mut self, done: &UnderWay, measure: Measure) {
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
        self.settled.push(Settled {
            call: call.clone(),
            measure,
        });
        if self.settled.len() > CONVERSATIONS {
            self.settled.remove(0);
        }
    }

    pub(super) fn compare(
        &self,
        done: &UnderWay,
        base: &Settled,
        now: Measure,
        deleted: u64,
        usage: &Usage,
        spec: Option<&ModelSpec>,
    ) -> Verdict {
        let expected = Expectation::of(base.measure, now, deleted);
        let (kind, from) = match expected.judge(now.read) {
            Read::Less(kind, from) => (kind, from),
            Read::AsExpected(lost) => return Verdict::Expected { lost },
            Read::Steady => return Verdict::Steady,
        };
        let (was, is) = (self.side(&base.call), self.side(&done.call));
        if summaries(was) != summaries(is) {
            // The provider compacted on its side.
            return Verdict::First;
        }
        let mut changes = compare::changes(was, is, spec);
        let rewritten = rewritten(base.call.rewriting, done.call.rewriting);
        if rewritten.is_some() {
            changes.retain(|change| !change.is_in_messages());
        }
        let idle_seconds = done
            .call
            .started
            .duration_since(base.call.started)
            .as_secs();
        let cause = Cause::of(&changes, expired(was, idle_seconds), rewritten);
        if cause == Cause::ServerSide && expected.may_be_off_by(from, now.read) {
            let lost = from.saturating_sub(now.read);
            return Verdict::Expected { lost };
        }
        let missed = expected.cached.saturating_sub(now.read);
        let mut finding = Finding {
            kind,
            source: done.source.clone(),
            model: done.call.head.model.clone(),
            at: done.call.started,
            from,
            to: now.read,
            missed,
            cost: spec.and_then(|spec| cost_of_rewriting(spec, usage, missed)),
            cause,
            changes,
            idle_seconds,
            diff: String::new(),
        };
        finding.diff = diff::render(&top(&finding), &finding.changes, was, is);
        match kind {
            FindingKind::Break => Verdict::Broke(Box::new(finding)),
            FindingKind::Unread => Verdict::Unread(Box::new(finding)),
        }
    }

    fn side<'a>(&'a self, call: &'a Call) -> Side<'a> {
        Side {
            head: &call.head,
            flags: &call.flags,
            positions: self.tracks.positions(call.track),
            marks: &call.marks,
        }
    }
}

fn top(finding: &Finding) -> String {
    format!(
        "{finding}\n{}, {}, {}; {} s after the request before it",
        finding.source, finding.model, finding.at, finding.idle_seconds
    )
}

/// The provider's own summaries among the messages.
fn summaries(side: Side<'_>) -> Option<u64> {
    let mut last = side.positions.iter().rev();
    last.find(|at| at.traits.summary).map(|at| at.hash)
}

/// The lifetime that is over after so many seconds, of those that the earlier request asked for: the longest.
fn expired(before: Side<'_>, idle_seconds: i64) -> Option<Ttl> {
    let marks = compare::level_marks(before).into_iter().flatten();
    let over = marks
        .map(|mark| mark.ttl)
        .filter(|ttl| idle_seconds >= ttl.seconds());
    over.max()
}

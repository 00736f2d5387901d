//! The compactions of a session as JSON: one for each time that a conversation was made smaller.
//!
//! Where a model binds its thinking to what came before it, a compacted prefix is settled with its first use (N2). That is
//! a record of its own in the store, but the same compaction to whoever looks, so it is a field of that compaction.

use longhaul_core::money::Usd;
use serde_json::{Value, json};

use super::outcomes;
use crate::branch::BranchId;
use crate::options::SessionNames;
use crate::store::{CallRecord, CompactedPrefixKind, PrefixProvenance, ResultsThatWent};

/// A compaction, and the records of its being settled.
struct FoldedCompaction<'m> {
    made: &'m PrefixProvenance,
    settled: Vec<&'m PrefixProvenance>,
}

impl FoldedCompaction<'_> {
    /// What it cost, with what being settled cost.
    fn cost(&self) -> Option<Usd> {
        let settled = self.settled.iter().filter_map(|made| made.cost);
        let all = self.made.cost.into_iter().chain(settled);
        all.reduce(|one, other| one + other)
    }
}

/// All compactions, the oldest first.
pub(super) fn shown(
    all: &[PrefixProvenance],
    calls: &[(BranchId, CallRecord)],
    names: SessionNames,
) -> Vec<Value> {
    let shown = folded(all).into_iter();
    shown
        .filter(|one| !is_superseded(one.made, all, calls))
        .map(|one| compaction(&one, all, calls, names))
        .collect()
}

/// Whether a clearing was replaced before it was ever sent: the request that it was made for had to wait for more.
fn is_superseded(
    made: &PrefixProvenance,
    all: &[PrefixProvenance],
    calls: &[(BranchId, CallRecord)],
) -> bool {
    // The calls may not go back as far as the compactions.
    let is_known = calls.first().is_some_and(|(_, first)| first.at <= made.at);
    if made.kind != CompactedPrefixKind::Cleared || !is_known {
        return false;
    }
    let mut later = all.iter().filter(|one| {
        let is_other = one.kind != CompactedPrefixKind::Settled;
        is_other && one.waited.is_some() && one.line == made.line && one.at > made.at
    });
    let next = later.next();
    next.is_some_and(|next| {
        !calls
            .iter()
            .any(|(line, call)| *line == made.line && call.at > made.at && call.at <= next.at)
    })
}

/// Puts the records of prefixes that were settled to the compactions that these prefixes are of.
fn folded(all: &[PrefixProvenance]) -> Vec<FoldedCompaction<'_>> {
    let mut folded: Vec<FoldedCompaction<'_>> = Vec::new();
    for made in all {
        let of = made.settles().and_then(|kind| {
            // A branch that leaves a conversation settles its prefix for itself.
            let is_same = |one: &&mut FoldedCompaction<'_>| {
                let one = one.made;
                one.kind == kind && (one.before, one.after) == (made.before, made.after)
            };
            folded.iter_mut().rev().find(is_same)
        });
        match of {
            Some(of) => of.settled.push(made),
            None => folded.push(FoldedCompaction {
                made,
                settled: Vec::new(),
            }),
        }
    }
    folded
}

/// A compaction of a session, with all of its compactions and calls.
fn compaction(
    folded: &FoldedCompaction<'_>,
    all: &[PrefixProvenance],
    calls: &[(BranchId, CallRecord)],
    names: SessionNames,
) -> Value {
    let made = folded.made;
    let mut report = made.report.clone();
    let mut went = report.went.take();
    let mut report = report.to_json();
    if names == SessionNames::Hashes {
        without_names(&mut report, &mut went);
    }
    json!({
        "id": made.making().to_string(),
        "at": made.at,
        "line": made.line.to_string(),
        "kind": made.kind,
        "before_tokens": made.before,
        "after_tokens": made.after,
        "milliseconds": made.millis,
        "waited_milliseconds": made.waited.unwrap_or(0),
        "cost_usd": folded.cost().map(Usd::to_f64),
        "settled_at": folded.settled.first().map(|settled| settled.at),
        "has_summary": matches!(made.kind, CompactedPrefixKind::Noted
            | CompactedPrefixKind::Summarized | CompactedPrefixKind::Extracted),
        "economy": outcomes::outcome(made, all, calls),
        "went": went,
        "report": report,
    })
}

/// Leaves out what was said in the conversation: remarks name files, and results what they were about.
fn without_names(report: &mut Value, went: &mut Option<ResultsThatWent>) {
    if let Some(report) = report.as_object_mut() {
        report.remove("notes");
    }
    for result in went.iter_mut().flat_map(|went| &mut went.results) {
        result.about = None;
    }
}

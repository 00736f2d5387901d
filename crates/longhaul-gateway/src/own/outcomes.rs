//! What has become of compactions that were decided by price (V6). This is computed when it is shown, from the calls since.

use longhaul_core::economy::{EconomyOutcome, EconomyRecord, RecordedEconomyAction};
use serde_json::{Value, json};

use crate::branch::BranchId;
use crate::store::{CallRecord, CompactedPrefixKind, PrefixProvenance};

/// The outcome of a compaction as JSON; null if it was not decided by price.
pub(super) fn outcome(
    made: &PrefixProvenance,
    all: &[PrefixProvenance],
    calls: &[(BranchId, CallRecord)],
) -> Value {
    // A settled prefix repeats the report of the one that it continues.
    let record = match made.kind {
        CompactedPrefixKind::Settled => None,
        _ => made.economy(),
    };
    let shown = record.map(|record| {
        let requests = later_requests(record, made, all, calls);
        let EconomyOutcome {
            saved_usd,
            has_paid_back,
        } = record.after(requests);
        json!({"requests": requests, "saved_usd": saved_usd, "has_paid_back": has_paid_back})
    });
    json!(shown)
}

/// How many requests of the branch were cheaper because of it: all after the first that was sent that way, until a later
/// summary would have removed the same.
fn later_requests(
    record: &EconomyRecord,
    made: &PrefixProvenance,
    all: &[PrefixProvenance],
    calls: &[(BranchId, CallRecord)],
) -> u64 {
    let later = all.iter().filter(|one| {
        let is_summary = matches!(
            one.kind,
            CompactedPrefixKind::Noted
                | CompactedPrefixKind::Summarized
                | CompactedPrefixKind::Extracted
        );
        is_summary && one.line == made.line && one.at > made.at
    });
    let until = later.map(|one| one.at).min();
    let sent = calls.iter().filter(|(line, call)| {
        *line == made.line
            && call.at > made.at
            && until.is_none_or(|until| call.at <= until)
            && call.usage.is_some()
    });
    let sent = sent.count() as u64;
    match record.action {
        // The request that a clearing was made for began before it.
        RecordedEconomyAction::Clear => sent,
        RecordedEconomyAction::Summarize => sent.saturating_sub(1),
    }
}

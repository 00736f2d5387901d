//! Calls, compactions and windows as JSON.

use longhaul_core::message::Usage;
use serde_json::{Value, json};

use super::outcomes;
use crate::branch::BranchId;
use crate::manage::Compactor;
use crate::savings;
use crate::store::{CallRecord, PrefixProvenance, SessionRow};

/// A session in the list.
pub(super) fn session(row: &SessionRow, care: &Compactor) -> Value {
    let mut shown = json!(row);
    let worth = savings::of_left_out(&care.spec(&row.model), row.saved_tokens);
    let saved = worth.map(|worth| worth.to_f64() - row.summaries_cost_usd);
    shown["saved_usd"] = json!(saved);
    shown
}

/// A call.
pub(super) fn call(line: BranchId, call: &CallRecord) -> Value {
    json!({
        "line": line.to_string(),
        "at": call.at,
        "model": call.model,
        "messages": call.messages,
        "status": call.status,
        "ended": call.ended,
        "milliseconds": call.millis,
        "usage": call.usage.as_ref().map(usage),
        "usage_partial": call.partial,
        "cost_usd": call.cost.map(|cost| cost.to_f64()),
        "finding": call.finding,
        "saved_tokens": call.saved,
        "rewritten": call.rewritten,
    })
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write(),
        "output_tokens": usage.output,
        "context_tokens": usage.context(),
    })
}

/// A compaction of a session, with all of its compactions and calls. A report that is not JSON is shown as text.
pub(super) fn compaction(
    made: &PrefixProvenance,
    all: &[PrefixProvenance],
    calls: &[(BranchId, CallRecord)],
) -> Value {
    let report = serde_json::from_str(&made.report);
    json!({
        "at": made.at,
        "line": made.line.to_string(),
        "kind": made.kind,
        "before_tokens": made.before,
        "after_tokens": made.after,
        "milliseconds": made.millis,
        "waited_milliseconds": made.waited.unwrap_or(0),
        "cost_usd": made.cost.map(|cost| cost.to_f64()),
        "economy": outcomes::outcome(made, all, calls),
        "report": report.unwrap_or_else(|_| Value::from(made.report.as_str())),
    })
}

/// The window of a model and its thresholds; null if it is too small to be managed.
pub(super) fn window(model: &str, care: &Compactor) -> Value {
    let shown = care.window(model).map(|window| {
        json!({
            "size": window.size,
            "effective": window.effective,
            "warning": window.warning,
            "threshold": window.auto_compact,
            "blocking": window.blocking,
        })
    });
    json!(shown)
}

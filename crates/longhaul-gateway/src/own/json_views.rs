//! Sessions, calls and windows as JSON.

use std::collections::BTreeMap;

use longhaul_core::message::Usage;
use longhaul_core::models::ModelSpec;
use serde_json::{Value, json};

use crate::branch::BranchId;
use crate::manage::Compactor;
use crate::options::SessionNames;
use crate::savings;
use crate::store::{CallRecord, SessionRow};
use crate::watch::kind_of_told;

/// A session in the list.
pub(super) fn session(row: &SessionRow, compactor: &Compactor, names: SessionNames) -> Value {
    let mut shown = json!(row);
    if names == SessionNames::Hashes {
        shown["title"] = Value::Null;
    }
    let worth = savings::of_left_out(&compactor.spec(&row.model), row.saved_tokens);
    let saved = worth.map(|worth| worth.to_f64() - row.summaries_cost_usd);
    shown["saved_usd"] = json!(saved);
    with_bill(&mut shown, row, saved);
    shown
}

/// Adds what was billed, which is unknown if no price is, with what the same would have cost otherwise.
pub(super) fn with_bill(shown: &mut Value, row: &SessionRow, saved: Option<f64>) {
    let spent = (row.unpriced == 0 || row.cost_usd > 0.0).then_some(row.cost_usd);
    shown["cost_usd"] = json!(spent);
    shown["own_cost_usd"] = json!(row.own_cost_usd);
    shown["own_calls"] = json!(row.own_calls);
    shown["summaries_cost_usd"] = json!(row.summaries_cost_usd);
    shown["unpriced"] = json!(row.unpriced);
    shown["simulated"] = json!(row.simulated);
    with_comparison(shown, spent, saved);
}

/// Adds what the same would have cost otherwise, and the share that was saved of it.
fn with_comparison(shown: &mut Value, spent: Option<f64>, saved: Option<f64>) {
    let without = spent.zip(saved).map(|(spent, saved)| spent + saved);
    let share = saved.zip(without.filter(|without| *without > 0.0));
    shown["without_usd"] = json!(without);
    shown["saved_share"] = json!(share.map(|(saved, without)| saved / without));
}

/// A call.
pub(super) fn call(
    line: BranchId,
    call: &CallRecord,
    compactor: &Compactor,
    names: SessionNames,
) -> Value {
    let spec = compactor.spec(&call.model);
    let error = call.error.as_deref();
    let error = match names {
        SessionNames::FirstWords => error,
        SessionNames::Hashes => error.and_then(kind_of_told),
    };
    json!({
        "line": line.to_string(),
        "at": call.at,
        "model": call.model,
        "client": call.caller.agent,
        "messages": call.messages,
        "status": call.status,
        "ended": call.ended,
        "error": error,
        "milliseconds": call.millis,
        "began_milliseconds": call.began,
        "usage": call.usage.as_ref().map(usage),
        "usage_partial": call.partial,
        "cost_usd": call.cost.map(|cost| cost.to_f64()),
        "finding": call.finding,
        "uncached": uncached(call, &spec),
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

/// Why nothing of a prompt was read from the cache or written to it; `None` if something was, or if nothing is known.
fn uncached(call: &CallRecord, spec: &ModelSpec) -> Option<String> {
    let usage = call.usage.as_ref()?;
    let prompt = usage.prompt();
    if prompt == 0 || usage.cache_read > 0 || usage.cache_write() > 0 {
        return None;
    }
    let least = spec.cache_minimum;
    Some(match call.breakpoints {
        Some(false) => {
            "The request has no cache breakpoints (cache_control), so the provider stores nothing of it.".to_owned()
        }
        _ if prompt < least => format!(
            "The prompt has {prompt} tokens, and the provider caches none with fewer than {least} for this model."
        ),
        Some(true) => {
            "The request has cache breakpoints, but none after enough tokens to be cached, or the provider has no cache."
                .to_owned()
        }
        None => "The provider says that nothing was in its cache: the beginning of the prompt is new, or was not sent for some minutes.".to_owned(),
    })
}

/// The windows of these models and their thresholds; null for one that is too small to be managed.
pub(super) fn windows<'m>(
    models: impl Iterator<Item = &'m str>,
    compactor: &Compactor,
) -> BTreeMap<&'m str, Value> {
    models
        .map(|model| (model, window(model, compactor)))
        .collect()
}

fn window(model: &str, compactor: &Compactor) -> Value {
    let shown = compactor.window(model).map(|window| {
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

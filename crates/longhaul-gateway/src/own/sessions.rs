//! The sessions as JSON (documented in docs/gateway.md).

use http::{Response, StatusCode};
use longhaul_core::message::Usage;
use serde_json::{Value, json};

use crate::front::{Answer, State, json_answer};
use crate::line::{LineId, SessionId};
use crate::store::CallRecord;

/// The most that is listed, whatever is asked for.
const MOST: usize = 10_000;
const SESSIONS: usize = 200;
const CALLS: usize = 2_000;
const LIST: &str = "/longhaul/api/sessions";

pub(super) async fn answer(state: &State, path: &str, query: Option<&str>) -> Response<Answer> {
    let failed = |error: crate::store::StoreError| {
        json_answer(
            StatusCode::INTERNAL_SERVER_ERROR,
            &json!({"error": error.to_string()}),
        )
    };
    if path == LIST {
        return match state.store.sessions(limit(query, SESSIONS)).await {
            Ok(sessions) => json_answer(StatusCode::OK, &json!({"sessions": sessions})),
            Err(error) => failed(error),
        };
    }
    let id = path
        .strip_prefix(LIST)
        .and_then(|rest| rest.strip_prefix('/'));
    let Some(id) = id.and_then(|id| id.parse::<SessionId>().ok()) else {
        let error = json!({"error": format!("there is nothing here; sessions are at {LIST}")});
        return json_answer(StatusCode::NOT_FOUND, &error);
    };
    match state.store.calls(id, limit(query, CALLS)).await {
        Err(error) => failed(error),
        Ok(calls) if calls.is_empty() => json_answer(
            StatusCode::NOT_FOUND,
            &json!({"error": "no calls of such a session are in the books"}),
        ),
        Ok(calls) => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|(line, call)| shown(*line, call))
                .collect();
            json_answer(
                StatusCode::OK,
                &json!({"session": id.to_string(), "calls": calls}),
            )
        }
    }
}

fn limit(query: Option<&str>, usual: usize) -> usize {
    let pairs = query.unwrap_or_default().split('&');
    let asked = pairs
        .filter_map(|pair| pair.strip_prefix("limit=")?.parse().ok())
        .next();
    asked.unwrap_or(usual).clamp(1, MOST)
}

fn shown(line: LineId, call: &CallRecord) -> Value {
    json!({
        "line": line.to_string(),
        "at": call.at,
        "model": call.model,
        "messages": call.messages,
        "status": call.status,
        "ended": call.ended,
        "milliseconds": call.millis,
        "usage": call.usage.as_ref().map(usage),
        "cost_usd": call.cost.map(|cost| cost.to_f64()),
        "finding": call.finding,
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

//! The sessions as JSON (documented in docs/gateway.md).

use std::collections::BTreeMap;

use http::{Response, StatusCode};
use longhaul_core::money::Usd;
use serde_json::{Value, json};

use super::json_views;
use crate::branch::GatewaySessionId;
use crate::own_body::{OwnBody, json_answer};
use crate::savings;
use crate::state::GatewayState;
use crate::store::StoreError;

/// The most sessions that are listed, whatever is requested.
const MOST: usize = 10_000;
const SESSIONS: usize = 200;
const CALLS: usize = 2_000;
const COMPACTIONS: usize = 1_000;
const LIST: &str = "/longhaul/api/sessions";

pub(super) async fn answer(
    state: &GatewayState,
    path: &str,
    query: Option<&str>,
) -> Response<OwnBody> {
    let found = match path.strip_prefix(LIST) {
        Some("") => list(state, limit(query, SESSIONS)).await.map(Some),
        Some(rest) => match rest.strip_prefix('/').map(str::parse) {
            Some(Ok(id)) => one(state, id, limit(query, CALLS)).await,
            _ => return nothing(&format!("there is nothing here; sessions are at {LIST}")),
        },
        None => return nothing(&format!("there is nothing here; sessions are at {LIST}")),
    };
    match found {
        Ok(Some(found)) => json_answer(StatusCode::OK, &found),
        Ok(None) => nothing("no calls of such a session are in the books"),
        Err(error) => {
            let error = json!({"error": error.to_string()});
            json_answer(StatusCode::INTERNAL_SERVER_ERROR, &error)
        }
    }
}

fn nothing(why: &str) -> Response<OwnBody> {
    json_answer(StatusCode::NOT_FOUND, &json!({"error": why}))
}

fn limit(query: Option<&str>, usual: usize) -> usize {
    let pairs = query.unwrap_or_default().split('&');
    let asked = pairs
        .filter_map(|pair| pair.strip_prefix("limit=")?.parse().ok())
        .next();
    asked.unwrap_or(usual).clamp(1, MOST)
}

async fn list(state: &GatewayState, most: usize) -> Result<Value, StoreError> {
    let rows = state.store.sessions(most).await?;
    let rows = rows
        .iter()
        .map(|row| json_views::session(row, &state.compactor));
    Ok(json!({"sessions": rows.collect::<Vec<_>>()}))
}

/// One session; `None` if it has no calls.
async fn one(
    state: &GatewayState,
    id: GatewaySessionId,
    most: usize,
) -> Result<Option<Value>, StoreError> {
    let calls = state.store.calls(id, most).await?;
    let Some((_, newest)) = calls.last() else {
        return Ok(None);
    };
    let made = state.prefix_store.made(id, COMPACTIONS).await?;
    let windows: BTreeMap<&str, Value> = calls
        .iter()
        .map(|(_, call)| call.model.as_str())
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .map(|model| (model, json_views::window(model, &state.compactor)))
        .collect();
    let left_out = calls
        .iter()
        .map(|(_, call)| (call.model.as_str(), call.saved));
    let worth = savings::of_calls(left_out, |model, tokens| {
        savings::of_left_out(&state.compactor.spec(model), tokens)
    });
    let spent: Usd = made.iter().filter_map(|made| made.cost).sum();
    Ok(Some(json!({
        "session": id.to_string(),
        "window": windows.get(newest.model.as_str()),
        "windows": windows,
        "saved_usd": worth.map(|worth| (worth - spent).to_f64()),
        "calls": calls.iter().map(|(line, call)| json_views::call(*line, call)).collect::<Vec<_>>(),
        "compactions": made.iter().map(|one| json_views::compaction(one, &made, &calls)).collect::<Vec<_>>(),
    })))
}

//! The sessions as JSON and CSV (documented in docs/gateway.md).

use std::collections::BTreeSet;

use http::{Request, Response, StatusCode};
use serde_json::{Value, json};

use super::csv::CsvTable;
use super::query::{AnswerFormat, AskedQuery};
use super::text_access::TextAccess;
use super::{compaction, compactions, json_views, savings as savings_view};
use crate::branch::{BranchId, GatewaySessionId};
use crate::own_body::{OwnBody, json_answer};
use crate::savings;
use crate::state::GatewayState;
use crate::store::{CallRecord, PrefixMakingId, StoreError};

/// The most sessions that are listed, whatever is requested.
const MOST: usize = 10_000;
const SESSIONS: usize = 200;
const CALLS: usize = 2_000;
const COMPACTIONS: usize = 1_000;
/// How many calls of no conversation are listed.
const UNPLACED: usize = 200;
const LIST: &str = "/longhaul/api/sessions";

/// What a path names.
enum AskedPath {
    List,
    One(GatewaySessionId),
    Compaction(PrefixMakingId),
}

impl AskedPath {
    fn read(path: &str) -> Option<Self> {
        let mut rest = match path.strip_prefix(LIST)? {
            "" => return Some(Self::List),
            rest => rest.strip_prefix('/')?.split('/'),
        };
        let session = rest.next()?.parse().ok()?;
        match (rest.next(), rest.next(), rest.next()) {
            (None, ..) => Some(Self::One(session)),
            (Some("compactions"), Some(id), None) => {
                PrefixMakingId::read(session, id).map(Self::Compaction)
            }
            _ => None,
        }
    }
}

pub(super) async fn answer<B>(state: &GatewayState, request: &Request<B>) -> Response<OwnBody> {
    let Some(path) = AskedPath::read(request.uri().path()) else {
        return nothing(&format!("there is nothing here; sessions are at {LIST}"));
    };
    let (most, format) = match read(request.uri().query()) {
        Ok(asked) => asked,
        Err(why) => return json_answer(StatusCode::BAD_REQUEST, &json!({"error": why})),
    };
    let access = TextAccess::of(state, request).await;
    let limit = |usual: usize| most.unwrap_or(usual).clamp(1, MOST);
    let found = match (path, format) {
        (AskedPath::List, AnswerFormat::Json) => {
            list(state, limit(SESSIONS), access).await.map(Some)
        }
        (AskedPath::List, AnswerFormat::Csv) => {
            return as_file(
                list(state, limit(MOST), access).await,
                "sessions",
                &SESSION_COLUMNS,
            );
        }
        (AskedPath::One(id), AnswerFormat::Json) => one(state, id, limit(CALLS), access).await,
        (AskedPath::One(id), AnswerFormat::Csv) => {
            let calls = calls(state, id, limit(MOST), access).await;
            return as_file(calls, "calls", &CALL_COLUMNS);
        }
        (AskedPath::Compaction(made), _) => {
            compaction::texts(state, made, COMPACTIONS, access).await
        }
    };
    match found {
        Ok(Some(found)) => json_answer(StatusCode::OK, &found),
        Ok(None) => nothing("the usage log has no session or compaction of this id"),
        Err(error) => savings_view::failed(&error),
    }
}

fn nothing(why: &str) -> Response<OwnBody> {
    json_answer(StatusCode::NOT_FOUND, &json!({"error": why}))
}

fn read(query: Option<&str>) -> Result<(Option<usize>, AnswerFormat), String> {
    let asked = AskedQuery::read(query, &["limit", "format"])?;
    let limit = asked.of("limit", "a number")?;
    if limit == Some(0) {
        return Err("`limit` is a number from 1 on".to_owned());
    }
    Ok((limit, asked.format()?))
}

const SESSION_COLUMNS: [&str; 23] = [
    "session",
    "client",
    "title",
    "tenant",
    "model",
    "first_seen",
    "last_seen",
    "calls",
    "failed",
    "messages",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "cost_usd",
    "own_calls",
    "own_cost_usd",
    "summaries_cost_usd",
    "saved_usd",
    "without_usd",
    "compactions",
    "findings",
    "simulated",
];

const CALL_COLUMNS: [&str; 18] = [
    "line",
    "at",
    "client",
    "model",
    "messages",
    "status",
    "ended",
    "error",
    "began_milliseconds",
    "milliseconds",
    "usage.input_tokens",
    "usage.cache_read_tokens",
    "usage.cache_write_tokens",
    "usage.output_tokens",
    "saved_tokens",
    "cost_usd",
    "finding",
    "uncached",
];

/// The first list of an answer as a file.
fn as_file(found: Result<Value, StoreError>, list: &str, columns: &[&str]) -> Response<OwnBody> {
    let found = match found {
        Ok(found) => found,
        Err(error) => return savings_view::failed(&error),
    };
    let mut table = CsvTable::new(columns);
    let rows = found.get(list).and_then(Value::as_array);
    rows.into_iter().flatten().for_each(|row| table.push(row));
    table.answer(&format!("longhaul-{list}"))
}

async fn list(state: &GatewayState, most: usize, access: TextAccess) -> Result<Value, StoreError> {
    let rows = state.store.sessions(most).await?;
    let rows = rows
        .iter()
        .map(|row| json_views::session(row, &state.compactor, access.names()));
    let unplaced = state.store.unplaced(UNPLACED).await?;
    let unplaced = unplaced.iter().map(|call| {
        let mut shown = json_views::call(BranchId(0), call, &state.compactor, access.names());
        shown["line"] = Value::Null;
        shown
    });
    Ok(json!({
        "texts": access.json(),
        "sessions": rows.collect::<Vec<_>>(),
        "unplaced": unplaced.collect::<Vec<_>>(),
    }))
}

async fn calls(
    state: &GatewayState,
    id: GatewaySessionId,
    most: usize,
    access: TextAccess,
) -> Result<Value, StoreError> {
    let calls = state.store.calls(id, most).await?;
    Ok(json!({"calls": shown_calls(&calls, state, access)}))
}

fn shown_calls(
    calls: &[(BranchId, CallRecord)],
    state: &GatewayState,
    access: TextAccess,
) -> Vec<Value> {
    let shown = calls
        .iter()
        .map(|(line, call)| json_views::call(*line, call, &state.compactor, access.names()));
    shown.collect()
}

/// One session; `None` if it has no calls.
async fn one(
    state: &GatewayState,
    id: GatewaySessionId,
    most: usize,
    access: TextAccess,
) -> Result<Option<Value>, StoreError> {
    let calls = state.store.calls(id, most).await?;
    let Some((_, newest)) = calls.last() else {
        return Ok(None);
    };
    let made = state.prefix_store.made(id, COMPACTIONS).await?;
    let models: BTreeSet<&str> = calls.iter().map(|(_, call)| call.model.as_str()).collect();
    let windows = json_views::windows(models.into_iter(), &state.compactor);
    let left_out = calls
        .iter()
        .map(|(_, call)| (call.model.as_str(), call.saved));
    let worth = savings::of_calls(left_out, |model, tokens| {
        savings::of_left_out(&state.compactor.spec(model), tokens)
    });
    let Some(bill) = state.store.session(id).await? else {
        return Ok(None);
    };
    let saved = worth.map(|worth| worth.to_f64() - bill.summaries_cost_usd);
    let row = json_views::session(&bill, &state.compactor, access.names());
    let mut shown = json!({
        "texts": access.json(),
        "session": id.to_string(),
        "client": row["client"],
        "title": row["title"],
        "tenant": row["tenant"],
        "window": windows.get(newest.model.as_str()),
        "windows": windows,
        "saved_usd": saved,
        "calls": shown_calls(&calls, state, access),
        "compactions": compactions::shown(&made, &calls, access.names()),
    });
    json_views::with_bill(&mut shown, &bill, saved);
    Ok(Some(shown))
}

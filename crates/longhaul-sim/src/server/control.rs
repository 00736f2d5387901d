//! The control API: time, usage log, faults, cache, health. It is for the operator of the simulator, so it needs no
//! key.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::response::Response;
use hyper::HeaderMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::deliver;
use super::options::TimeSource;
use super::shared::SimServerState;
use crate::server_tools::SearchError;

/// How many searches may be told to fail at once.
const MOST_SEARCHES: usize = 1_000;

/// The maximum size of a control request.
const LIMIT: usize = 64 << 10;

/// The maximum time to advance at once: a hundred years.
const CENTURY_MS: u64 = 100 * 366 * 24 * 60 * 60 * 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AdvanceRequest {
    advance_ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InjectRequest {
    /// The faults on the wire.
    spec: Option<String>,
    /// The misbehavior of the model.
    misbehave: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvictRequest {
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FailSearchesRequest {
    fail: usize,
    code: Option<String>,
}

/// Lets the next searches of the web fail.
pub(super) async fn searches(State(shared): State<Arc<SimServerState>>, body: Body) -> Response {
    const EXAMPLE: &str = r#"{"fail": 2, "code": "unavailable"}"#;
    let asked: FailSearchesRequest = match read(body, EXAMPLE).await {
        Ok(asked) => asked,
        Err(sentence) => return bad(&sentence),
    };
    let code = asked.code.as_deref().unwrap_or("unavailable");
    let Some(error) = SearchError::ALL
        .into_iter()
        .find(|error| error.code() == code)
    else {
        let codes = SearchError::ALL.map(SearchError::code).join(", ");
        return bad(&format!("`code` has to be one of {codes}."));
    };
    if asked.fail > MOST_SEARCHES {
        return bad(&format!("`fail` may be at most {MOST_SEARCHES}."));
    }
    shared.with_world(|world| world.fail_searches(asked.fail, error));
    ok(&json!({ "fail": asked.fail, "code": code }))
}

pub(super) async fn clock(State(shared): State<Arc<SimServerState>>) -> Response {
    let now = shared.with_world(|world| world.now());
    ok(&json!({ "now_ms": now.0, "time": time(&shared) }))
}

pub(super) async fn advance(State(shared): State<Arc<SimServerState>>, body: Body) -> Response {
    let advance: AdvanceRequest = match read(body, r#"{"advance_ms": 300000}"#).await {
        Ok(advance) => advance,
        Err(sentence) => return bad(&sentence),
    };
    if advance.advance_ms > CENTURY_MS {
        return bad("advance_ms may be at most 100 years at once.");
    }
    let now = shared.with_world(|world| {
        world.advance(advance.advance_ms);
        world.now()
    });
    ok(&json!({ "now_ms": now.0 }))
}

pub(super) async fn usage_log(State(shared): State<Arc<SimServerState>>) -> Response {
    let books = shared.with_world(|world| {
        let mut books = serde_json::to_value(world.usage_log()).unwrap_or_default();
        books["now_ms"] = world.now().0.into();
        books
    });
    ok(&books)
}

pub(super) async fn faults(State(shared): State<Arc<SimServerState>>) -> Response {
    ok(&json!(shared.faults_now()))
}

pub(super) async fn inject(State(shared): State<Arc<SimServerState>>, body: Body) -> Response {
    const EXAMPLE: &str = r#"{"spec": "529*2"} or {"misbehave": "summary:empty*2"}"#;
    let inject: InjectRequest = match read(body, EXAMPLE).await {
        Ok(inject) => inject,
        Err(sentence) => return bad(&sentence),
    };
    if inject.spec.is_none() && inject.misbehave.is_none() {
        return bad(&format!("The body must be a JSON object like {EXAMPLE}."));
    }
    // Both are parsed before either takes effect.
    let misbehavior = match inject.misbehave.map(|spec| spec.parse()).transpose() {
        Ok(misbehavior) => misbehavior,
        Err(error) => return bad(&format!("The misbehavior cannot be read: {error}.")),
    };
    if let Some(Err(error)) = inject.spec.map(|spec| shared.inject(&spec)) {
        return bad(&format!("The fault specification cannot be read: {error}."));
    }
    if let Some(misbehavior) = misbehavior {
        shared.with_world(|world| world.misbehave(misbehavior));
    }
    ok(&json!(shared.faults_now()))
}

pub(super) async fn clear(State(shared): State<Arc<SimServerState>>) -> Response {
    shared.clear_faults();
    ok(&json!(shared.faults_now()))
}

pub(super) async fn evict(State(shared): State<Arc<SimServerState>>, body: Body) -> Response {
    let evict: EvictRequest = match read(body, r#"{} or {"key": "…"}"#).await {
        Ok(evict) => evict,
        Err(sentence) => return bad(&sentence),
    };
    let evicted = shared.with_world(|world| match &evict.key {
        Some(key) => world.evict_key(key),
        None => world.evict(),
    });
    ok(&json!({ "evicted": evicted }))
}

pub(super) async fn health(State(shared): State<Arc<SimServerState>>) -> Response {
    let now = shared.with_world(|world| world.now());
    ok(&json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "now_ms": now.0,
        "time": time(&shared),
        "connections": shared.connections.len(),
        "replies": shared.replies.count(),
    }))
}

fn time(shared: &SimServerState) -> &'static str {
    match shared.time {
        TimeSource::Real => "real",
        TimeSource::Virtual => "virtual",
    }
}

/// Reads a body; the error is a sentence about what is wrong with it. An empty body counts as an empty object.
async fn read<T: DeserializeOwned>(body: Body, example: &str) -> Result<T, String> {
    let Ok(bytes) = to_bytes(body, LIMIT).await else {
        return Err(format!("The body must have at most {LIMIT} bytes."));
    };
    let bytes: &[u8] = if bytes.trim_ascii().is_empty() {
        b"{}"
    } else {
        &bytes
    };
    serde_json::from_slice(bytes)
        .map_err(|error| format!("The body must be a JSON object like {example}: {error}."))
}

fn ok(value: &Value) -> Response {
    deliver::json(200, value, HeaderMap::new())
}

fn bad(sentence: &str) -> Response {
    deliver::json(400, &json!({ "error": sentence }), HeaderMap::new())
}

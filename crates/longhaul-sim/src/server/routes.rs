//! Maps paths to handlers.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use hyper::{HeaderMap, Method, Uri};
use serde_json::json;

use super::shared::SimServerState;
use super::{chat, control, deliver, messages, models};
use crate::call::ApiError;

/// All routes. Query strings are accepted and ignored: clients send `?beta=true`.
pub(super) fn router(shared: Arc<SimServerState>) -> Router {
    Router::new()
        .route("/", get(root))
        .route("/v1/messages", post(messages::create))
        .route("/v1/messages/count_tokens", post(messages::count_tokens))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{id}", get(models::one))
        .route("/v1/chat/completions", post(chat::create))
        .route("/sim/clock", get(control::clock).post(control::advance))
        .route("/sim/books", get(control::usage_log))
        .route(
            "/sim/faults",
            get(control::faults)
                .post(control::inject)
                .delete(control::clear),
        )
        .route("/sim/evict", post(control::evict))
        .route("/sim/searches", post(control::searches))
        .route("/sim/health", get(control::health))
        .fallback(nowhere)
        .method_not_allowed_fallback(not_so)
        .with_state(shared)
}

/// Clients check here whether a server is running.
async fn root() -> Response {
    let about = json!({
        "service": "longhaul sim",
        "version": env!("CARGO_PKG_VERSION"),
        "about": "a simulator of the Messages API; nothing here reaches a real model",
    });
    deliver::json(200, &about, HeaderMap::new())
}

async fn nowhere(State(shared): State<Arc<SimServerState>>, uri: Uri) -> Response {
    let error = ApiError {
        status: 404,
        kind: "not_found_error",
        ..ApiError::invalid(format!("Not Found: {} is not simulated", uri.path()))
    };
    messages::refused(&shared, &error)
}

async fn not_so(State(shared): State<Arc<SimServerState>>, method: Method) -> Response {
    let error = ApiError {
        status: 405,
        ..ApiError::invalid(format!("Method Not Allowed: {method}"))
    };
    messages::refused(&shared, &error)
}

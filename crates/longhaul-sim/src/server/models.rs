//! Handles `GET /v1/models` and `GET /v1/models/{id}`, in the dialect of the client.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use hyper::HeaderMap;
use serde_json::Value;

use super::deliver;
use super::dialect::ClientDialect;
use super::headers;
use super::messages::refused;
use super::shared::SimServerState;
use crate::call::ApiError;
use crate::openai;

/// Lists all models.
pub(super) async fn list(
    State(shared): State<Arc<SimServerState>>,
    headers: HeaderMap,
) -> Response {
    if let Err(error) = caller(&headers) {
        return refused(&shared, &error);
    }
    let list = shared.with_world(|world| world.models());
    if headers::is_anthropic(&headers) {
        return answer(&shared, &list);
    }
    let ids = list["data"].as_array().into_iter().flatten();
    let ids = ids.filter_map(|model| model["id"].as_str());
    answer(&shared, &openai::models(ids))
}

/// Describes one model.
pub(super) async fn one(
    State(shared): State<Arc<SimServerState>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if let Err(error) = caller(&headers) {
        return refused(&shared, &error);
    }
    let anthropic = headers::is_anthropic(&headers);
    match shared.with_world(|world| world.model(&id)) {
        Some(model) if anthropic => answer(&shared, &model),
        Some(_) => answer(&shared, &openai::model(&id)),
        None => {
            let error = ApiError {
                status: 404,
                kind: "not_found_error",
                ..ApiError::invalid(format!("model: {id}"))
            };
            if anthropic {
                return refused(&shared, &error);
            }
            let error = openai::ChatError::translated(&error, &id);
            deliver::json(error.status, &error.envelope(), HeaderMap::new())
        }
    }
}

/// The caller must have a key, and in the Anthropic dialect a version.
fn caller(headers: &HeaderMap) -> Result<(), ApiError> {
    let openai = !headers::is_anthropic(headers) && headers::key(headers).is_some();
    if openai {
        Ok(())
    } else {
        headers::call(headers).map(drop)
    }
}

fn answer(shared: &SimServerState, value: &Value) -> Response {
    let headers = ClientDialect::Messages.headers(&shared.request_id(), None);
    deliver::json(200, value, headers)
}

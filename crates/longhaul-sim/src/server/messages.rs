//! Handles `POST /v1/messages` and `POST /v1/messages/count_tokens`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use hyper::HeaderMap;

use super::deliver::{self, Destination, deliver};
use super::dialect::ClientDialect;
use super::exchange::{exchange, in_world};
use super::shared::SimServerState;
use super::wire::ResetFlag;
use super::{body, headers};
use crate::call::{ApiCall, ApiError};

/// Answers a model call.
pub(super) async fn create(
    State(shared): State<Arc<SimServerState>>,
    Extension(cutter): Extension<ResetFlag>,
    request: Request,
) -> Response {
    let call = match call(request).await {
        Ok(call) => call,
        Err(error) => return refused(&shared, &error),
    };
    let session = call.session.clone();
    let to = Destination {
        path: "/v1/messages",
        session: session.as_deref(),
        cutter,
    };
    let exchange = exchange(&shared, call).await;
    deliver(&shared, exchange, &ClientDialect::Messages, to).await
}

/// Counts the tokens of a prompt.
pub(super) async fn count_tokens(
    State(shared): State<Arc<SimServerState>>,
    request: Request,
) -> Response {
    let call = match call(request).await {
        Ok(call) => call,
        Err(error) => return refused(&shared, &error),
    };
    let counted = in_world(&shared, move |world| world.count_tokens(&call)).await;
    match counted.and_then(|counted| counted) {
        Ok(counted) => {
            let headers = ClientDialect::Messages.headers(&shared.request_id(), None);
            deliver::json(200, &counted, headers)
        }
        Err(error) => refused(&shared, &error),
    }
}

/// The call that a request makes: the caller is checked before the body.
async fn call(request: Request) -> Result<ApiCall, ApiError> {
    let (parts, sent) = request.into_parts();
    let call = headers::call(&parts.headers)?;
    // The API's list of errors has no 415, so this is a 400.
    body::is_json(&parts.headers).map_err(|kind| ApiError::invalid(not_json(&kind)))?;
    let body = body::read(&parts.headers, sent).await?;
    Ok(ApiCall { body, ..call })
}

fn not_json(kind: &str) -> String {
    match kind {
        "" => "content-type: header is required and must be application/json".to_owned(),
        _ => format!("content-type: must be application/json, not {kind:?}"),
    }
}

/// The refusal of a request that never reached the world.
pub(super) fn refused(shared: &SimServerState, error: &ApiError) -> Response {
    let id = shared.request_id();
    let headers: HeaderMap = ClientDialect::Messages.headers(&id, None);
    deliver::refusal(&ClientDialect::Messages, error, &id, headers)
}

//! Delivers an answer: status, headers, and a body that is sent at its pace or broken by its fault.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

use super::dialect::ClientDialect;
use super::exchange::{ServedCall, overloaded};
use super::log::RequestLogLine;
use super::playback;
use super::shared::SimServerState;
use super::wire::ResetFlag;
use crate::call::ApiError;
use crate::faults::wire::{EventPace, script};
use crate::reply::ApiReply;

/// The destination of an answer.
pub(super) struct Destination<'a> {
    pub(super) path: &'a str,
    pub(super) session: Option<&'a str>,
    pub(super) cutter: ResetFlag,
}

/// The response to a model call.
pub(super) async fn deliver(
    shared: &Arc<SimServerState>,
    exchange: ServedCall,
    dialect: &ClientDialect,
    to: Destination<'_>,
) -> Response {
    let status = match &exchange.outcome {
        Ok(_) => 200,
        Err(error) => dialect.error(error, &exchange.request_id).0,
    };
    let outcome = exchange.outcome.as_ref();
    shared.log.write(&RequestLogLine {
        at: Timestamp::now().to_string(),
        now_ms: exchange.now.0,
        path: to.path,
        status,
        request_id: &exchange.request_id,
        session: to.session,
        fault: exchange.fault.map(|fault| fault.to_string()),
        error: outcome.err().map(|error| error.message.as_str()),
        usage: outcome.ok().map(|reply| &reply.message["usage"]),
    });
    let headers = dialect.headers(&exchange.request_id, Some(exchange.left));
    match &exchange.outcome {
        Err(error) => refusal(dialect, error, &exchange.request_id, headers),
        Ok(reply) => {
            let held_back = exchange.fault.and_then(|fault| fault.delay());
            tokio::time::sleep(shared.pace.first_byte + held_back.unwrap_or_default()).await;
            answer(shared, &exchange, reply, dialect, headers, to.cutter)
        }
    }
}

fn answer(
    shared: &SimServerState,
    exchange: &ServedCall,
    reply: &ApiReply,
    dialect: &ClientDialect,
    mut headers: HeaderMap,
    cutter: ResetFlag,
) -> Response {
    for (name, value) in &reply.headers {
        super::rate::put(&mut headers, name, value);
    }
    if !reply.stream && exchange.fault.is_none() {
        return json(200, &dialect.whole(reply), headers);
    }
    let (frames, pace, kind) = if reply.stream {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        let kind = "text/event-stream; charset=utf-8";
        (dialect.frames(reply), shared.pace, kind)
    } else {
        let whole = dialect.whole(reply).to_string().into();
        (vec![whole], EventPace::FAST, "application/json")
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    let error = dialect.error_frame(&overloaded());
    let steps = script(frames, exchange.fault, pace, &error);
    respond(
        200,
        headers,
        playback::body(steps, cutter, shared.replies.enter()),
    )
}

/// The response to a refused request.
pub(super) fn refusal(
    dialect: &ClientDialect,
    error: &ApiError,
    request_id: &str,
    mut headers: HeaderMap,
) -> Response {
    let (status, body) = dialect.error(error, request_id);
    if let Some(seconds) = error.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    json(status, &body, headers)
}

/// A response that is JSON.
pub(super) fn json(status: u16, value: &Value, mut headers: HeaderMap) -> Response {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    respond(status, headers, Body::from(value.to_string()))
}

fn respond(status: u16, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = headers;
    response
}

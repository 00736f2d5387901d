//! The gateway's own responses: health, counters, the sessions and what they cost as JSON and CSV, changes of them as
//! events, the page.
//!
//! Sessions are shown to clients with the token; without a configured token, only on this machine, and only to requests
//! that address it by a name of this machine (otherwise, a web page could make its own name resolve to it). Text of
//! conversations is shown to fewer (`text_access.rs`).

mod assets;
mod compaction;
mod compactions;
mod csv;
mod events;
mod guard;
mod json_views;
mod latency;
mod outcomes;
mod proof;
mod query;
mod savings;
mod sessions;
mod text_access;

use http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use serde_json::json;

pub(crate) use guard::{comes_from_here, same};

use crate::own_body::{OwnBody, json_answer};
use crate::state::GatewayState;

/// Answers a request for one of the gateway's own paths.
pub(crate) async fn answer(state: &GatewayState, request: &Request<Incoming>) -> Response<OwnBody> {
    let path = request.uri().path();
    match path {
        "/healthz" => return json_answer(StatusCode::OK, &json!({"status": "ok"})),
        // Clients check whether the server is up.
        "/" if request.method() == http::Method::HEAD => {
            return Response::new(OwnBody::whole(bytes::Bytes::new()));
        }
        _ => {}
    }
    if request.method() != http::Method::GET {
        let error = json!({"error": "there is nothing to change here"});
        return json_answer(StatusCode::METHOD_NOT_ALLOWED, &error);
    }
    // Whoever does not know the secret learns nothing from an answer.
    if path == crate::proof::PROOF_PATH {
        return proof::answer(state, request.uri().query());
    }
    // The page itself contains no data; it asks for the token and then for the sessions.
    if let Some(file) = assets::answer(path, request.headers()) {
        return file;
    }
    if let Err(refused) = guard::allowed(state, request.headers()) {
        state.metrics.refused(crate::watch::RefusalClass::Forbidden);
        return *refused;
    }
    let mut answer = match path {
        "/metrics" => text(state.metrics.text(), "text/plain; version=0.0.4"),
        "/longhaul/api/events" => events::answer(state),
        latency::PATH => latency::answer(state, request.uri().query()).await,
        savings::PATH => savings::answer(state, request).await,
        _ => sessions::answer(state, request).await,
    };
    let fixed = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let fixed = fixed.map(|(name, value)| (name, HeaderValue::from_static(value)));
    answer.headers_mut().extend(fixed);
    answer
}

fn text(text: String, kind: &'static str) -> Response<OwnBody> {
    let mut answer = Response::new(OwnBody::whole(text.into()));
    let kind = HeaderValue::from_static(kind);
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

//! Server-sent events: which session has changed, as it happens, and from time to time a heartbeat.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use serde_json::json;

use crate::own_body::{OwnBody, json_answer};
use crate::state::GatewayState;
use crate::watch::{ChangeSubscription, SessionChange};

/// Something is sent at least this often, so that both sides notice when the other has gone.
const HEARTBEAT: Duration = Duration::from_secs(15);

pub(super) fn answer(state: &GatewayState) -> Response<OwnBody> {
    let Some(following) = state.changes.follow() else {
        let error = json!({"error": "too many look at once; ask for the sessions now and then"});
        let mut answer = json_answer(StatusCode::SERVICE_UNAVAILABLE, &error);
        let later = HeaderValue::from_static("30");
        answer.headers_mut().insert(header::RETRY_AFTER, later);
        return answer;
    };
    let beginning = Bytes::from_static(b": changes of sessions\n\n");
    let events = stream::unfold(
        (following, Some(beginning)),
        |(mut following, first)| async {
            let text = match first {
                Some(first) => first,
                None => next(&mut following).await?,
            };
            Some((Ok(Frame::data(text)), (following, None)))
        },
    );
    let mut answer = Response::new(OwnBody::Streamed(StreamBody::new(events).boxed_unsync()));
    let kind = HeaderValue::from_static("text/event-stream");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

/// The next events in wire format; `None` when the gateway stops.
async fn next(following: &mut ChangeSubscription) -> Option<Bytes> {
    let Ok(change) = tokio::time::timeout(HEARTBEAT, following.next()).await else {
        return Some(Bytes::from_static(b": nothing new\n\n"));
    };
    let event = |data: serde_json::Value| format!("event: changed\ndata: {data}\n\n");
    let text = match change? {
        SessionChange::Any => event(json!({"session": null})),
        SessionChange::Sessions(sessions) => sessions
            .iter()
            .map(|session| event(json!({"session": session.to_string()})))
            .collect(),
    };
    Some(text.into())
}

//! Passes on a request whose conversation is offered recall: the request is expanded, sent as often as the model looks
//! something up, and the client gets one reply (`recalled_stream` if it is streamed).
//!
//! Each time it is sent like any other request of a client, so each is recognized, managed and recorded.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode};
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;

use super::exchange::{self, ClientRequestBody};
use super::placement;
use super::recall_exchange::{RecallExchange, collect, is_stream, replaced};
use super::recalled_stream;
use super::response_body::ClientBody;
use super::routes::GatewayRoute;
use crate::branch;
use crate::own_body::OwnBody;
use crate::policy::{PolicySubject, RecallMode, RequestPolicy};
use crate::recall::{
    AfterReply, HistoryRecall, RecallDemand, StopChange, StreamEnding, WholeReplies,
};
use crate::refusal::GatewayRefusal;
use crate::state::GatewayState;
use crate::upstream::{self, headers};
use crate::watch;

/// Passes a request on, expanded if its conversation is offered recall.
pub(super) async fn pass(
    state: &Arc<GatewayState>,
    recall: &Arc<HistoryRecall>,
    (parts, body): (Parts, Incoming),
    (route, began): (GatewayRoute, Instant),
    permit: OwnedSemaphorePermit,
) -> Result<Response<ClientBody>, GatewayRefusal> {
    let demand = match route {
        GatewayRoute::Conversation(_) => RecallDemand::Reply,
        GatewayRoute::Counting => RecallDemand::Counting,
        GatewayRoute::Own | GatewayRoute::Other(_) => {
            let body = ClientRequestBody::Coming(body);
            return exchange::pass(state, (parts, body), (route, began), permit).await;
        }
    };
    let onward = headers::onward(&parts.headers, state.upstream.host());
    let caller = exchange::caller(state, &onward, parts.uri.query(), 0);
    let subject = PolicySubject {
        tenant: caller.tenant,
        path: parts.uri.path(),
        headers: &parts.headers,
        model: None,
    };
    let may_change =
        (state.policies.decide(subject)).is_none_or(|policy| policy == RequestPolicy::Manage);
    if caller.is_apart || !may_change {
        let body = ClientRequestBody::Coming(body);
        return exchange::pass(state, (parts, body), (route, began), permit).await;
    }
    let (most, idle) = (state.limits.body, state.timeouts.client_idle);
    let body = upstream::whole(body, most, idle, &state.budget).await?;
    let asked = branch::RecognitionRequest {
        tenant: caller.tenant,
        dialect: route.dialect(),
        body: &body,
    };
    let recognized = placement::recognize(state, asked, &body).await?;
    let turn = match &recognized {
        Ok(recognized) if !recognized.outline.members.threaded => {
            let model = recognized.outline.model(&body);
            let subject = PolicySubject {
                model: Some(&model),
                ..subject
            };
            let mode = state
                .policies
                .recall(subject)
                .unwrap_or(recall.default_mode);
            match state.policies.decide(subject).unwrap_or_default() {
                RequestPolicy::Manage if mode == RecallMode::On => {
                    let of = (caller.of_key, route.dialect());
                    recall
                        .prepare(demand, of, &body, recognized, &state.budget)
                        .await
                }
                RequestPolicy::Manage | RequestPolicy::Observe | RequestPolicy::Off => None,
            }
        }
        _ => None,
    };
    drop(recognized);
    let Some(turn) = turn else {
        let body = ClientRequestBody::Read(body);
        return exchange::pass(state, (parts, body), (route, began), permit).await;
    };
    drop(body);
    let round = RecallExchange::new(state, parts, route, turn);
    let answer = round.send(round.turn.body().clone(), began, permit).await?;
    if demand == RecallDemand::Counting || answer.status() != StatusCode::OK {
        return Ok(answer);
    }
    if is_stream(&answer) {
        recalled_stream::begin(round, answer)
    } else {
        whole(round, answer).await
    }
}

/// A reply that comes whole.
async fn whole(
    mut exchange: RecallExchange,
    answer: Response<ClientBody>,
) -> Result<Response<ClientBody>, GatewayRefusal> {
    let mut replies = WholeReplies::new(exchange.turn.dialect(), exchange.turn.tool());
    // The client sees the headers of the first reply: its stream would have begun with those.
    let (head, mut body) = answer.into_parts();
    let mut headers = head.headers.clone();
    let mut beginning = replaced(&head.extensions);
    loop {
        let read = read(&exchange.state, &headers, body).await?;
        let Ok(reply) = replies.read(&read) else {
            // It is not a reply: the client may know what it is.
            return Ok(finished(head, read));
        };
        let budget = exchange.state.budget.clone();
        let stop = match exchange.turn.take(&reply, beginning, &budget).await {
            AfterReply::Again(next) => {
                replies.another_reply(&read, &reply);
                let answer = exchange.send_again(next).await?;
                if answer.status() != StatusCode::OK {
                    return Ok(answer);
                }
                let parts;
                (parts, body) = answer.into_parts();
                headers = parts.headers;
                beginning = replaced(&parts.extensions);
                continue;
            }
            AfterReply::End => StopChange::AsTold,
            AfterReply::EndTurn => StopChange::TurnEnded,
        };
        let ending = StreamEnding {
            reply: &reply,
            output: exchange.turn.output(),
            stop,
        };
        return Ok(finished(head, replies.end(&read, ending)));
    }
}

/// Reads a body to its end, unpacked.
async fn read(
    state: &GatewayState,
    headers: &http::HeaderMap,
    body: ClientBody,
) -> Result<Bytes, GatewayRefusal> {
    let read = collect(state, body).await;
    let read = read.map_err(|_| state.upstream.broke("its answer broke off"))?;
    let unreadable = || state.upstream.broke("its answer cannot be unpacked");
    watch::plain(headers, &read).ok_or_else(unreadable)
}

fn finished(mut parts: http::response::Parts, body: Bytes) -> Response<ClientBody> {
    parts.headers.remove(header::CONTENT_ENCODING);
    parts.headers.remove(header::TRANSFER_ENCODING);
    parts
        .headers
        .insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    Response::from_parts(parts, ClientBody::Own(OwnBody::whole(body)))
}

//! Answers one request: whether it may be passed on at all, and what the client is told if it cannot be.

use std::sync::Arc;
use std::time::Instant;

use http::header::{self, HeaderMap, HeaderValue};
use http::{Request, Response};
use hyper::body::Incoming;
use longhaul_provider::Dialect;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::exchange::{ClientRequestBody, pass};
use super::recalled;
use super::response_body::ClientBody;
use super::routes::GatewayRoute;
use crate::calling_agent::CallingAgent;
use crate::own;
use crate::refusal::GatewayRefusal;
use crate::state::GatewayState;

/// The header with the token that a client needs for access.
const TOKEN: &str = "x-longhaul-token";

/// Answers one request. This never fails: failures are responses.
pub(super) async fn answer(
    state: Arc<GatewayState>,
    mut request: Request<Incoming>,
) -> Response<ClientBody> {
    if let Some(named) = CallingAgent::take_from(request.uri_mut()) {
        request.extensions_mut().insert(named);
    }
    let route = GatewayRoute::of(request.method(), request.uri().path());
    if route == GatewayRoute::Own {
        let answer = Box::pin(own::answer(&state, &request)).await;
        return answer.map(ClientBody::from);
    }
    let began = Instant::now();
    if !known_here(&state, request.headers()) {
        return refused(&state, &GatewayRefusal::Stranger, route.dialect(), began);
    }
    // A client that shows the token is not a web page.
    if state.client_token.is_none() && !own::comes_from_here(&state, request.headers()) {
        return refused(&state, &GatewayRefusal::Elsewhere, route.dialect(), began);
    }
    if asks_for_websocket(request.headers()) {
        return refused(&state, &GatewayRefusal::Upgrade, route.dialect(), began);
    }
    let Ok(permit) = Arc::clone(&state.requests).try_acquire_owned() else {
        let most = state.limits.requests;
        return refused(
            &state,
            &GatewayRefusal::Busy { most },
            route.dialect(),
            began,
        );
    };
    let span = tracing::info_span!(
        "gateway_request",
        route = route.name(),
        policy = Empty,
        model = Empty,
        session = Empty,
        line = Empty,
        messages = Empty,
        status = Empty,
        ended = Empty,
    );
    let passing = async {
        let (parts, body) = request.into_parts();
        let passed = match &state.recall {
            Some(recall) => {
                // The future is large, and most gateways do not need it.
                let (request, call) = ((parts, body), (route, began));
                Box::pin(recalled::pass(&state, recall, request, call, permit)).await
            }
            None => {
                let request = (parts, ClientRequestBody::Coming(body));
                pass(&state, request, (route, began), permit).await
            }
        };
        match passed {
            Ok(answer) => answer,
            Err(refusal) => refused(&state, &refusal, route.dialect(), began),
        }
    };
    passing.instrument(span).await
}

/// Whether a client wants to speak WebSocket. Without the headers of its connection, which are not passed on, the
/// upstream could not know what it asks for.
fn asks_for_websocket(headers: &HeaderMap) -> bool {
    let wanted = headers.get(header::UPGRADE).map(HeaderValue::as_bytes);
    wanted.is_some_and(|wanted| wanted.eq_ignore_ascii_case(b"websocket"))
}

/// Whether a client may have its requests passed on.
fn known_here(state: &GatewayState, headers: &HeaderMap) -> bool {
    let Some(token) = &state.client_token else {
        return true;
    };
    let given = headers.get(TOKEN).map(HeaderValue::as_bytes);
    given.is_some_and(|given| own::same(given, token.expose().as_bytes()))
}

fn refused(
    state: &GatewayState,
    refusal: &GatewayRefusal,
    dialect: Dialect,
    began: Instant,
) -> Response<ClientBody> {
    let answer = refusal.answer(dialect).map(ClientBody::from);
    state.metrics.refused(refusal.counted());
    let status = answer.status().as_u16();
    state.metrics.answered(status, None, began.elapsed());
    Span::current().record("status", status);
    answer
}

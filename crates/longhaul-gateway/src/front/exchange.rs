//! One request, taken through: recognised and prepared as the policy says, passed on, its answer passed back.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::request::Parts;
use http::{Request, Response};
use hyper::body::Incoming;
use jiff::Timestamp;
use longhaul_provider::Dialect;
use tokio::sync::OwnedSemaphorePermit;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::passing::Answer;
use super::placing::{self, Placing};
use super::routes::Route;
use super::under_way::{Call, ORGANISATION, UnderWay};
use super::withheld::{self, Outcome};
use crate::line::{self, Credentials};
use crate::manage::Sending;
use crate::options::KeylessClients;
use crate::own;
use crate::policy::{Policy, Subject};
use crate::refusal::Refusal;
use crate::state::State;
use crate::store::Ended;
use crate::upstream::headers;
use crate::upstream::{self, Onward};

/// What a client shows to be let in.
const TOKEN: &str = "x-longhaul-token";

/// Answers one request. Never fails: failures are answers.
pub(super) async fn answer(state: Arc<State>, request: Request<Incoming>) -> Response<Answer> {
    let route = Route::of(request.method(), request.uri().path());
    if route == Route::Own {
        let answer = Box::pin(own::answer(&state, &request)).await;
        return answer.map(Answer::from);
    }
    let began = Instant::now();
    if !known_here(&state, request.headers()) {
        return refused(&state, &Refusal::Stranger, route.dialect(), began);
    }
    // Who shows the token is no web page.
    if state.client_token.is_none() && !own::comes_from_here(&state, request.headers()) {
        return refused(&state, &Refusal::Elsewhere, route.dialect(), began);
    }
    let Ok(permit) = Arc::clone(&state.requests).try_acquire_owned() else {
        let most = state.limits.requests;
        return refused(&state, &Refusal::Busy { most }, route.dialect(), began);
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
        match pass(&state, request, route, began, permit).await {
            Ok(answer) => answer,
            Err(refusal) => refused(&state, &refusal, route.dialect(), began),
        }
    };
    passing.instrument(span).await
}

/// Whether a client may have requests passed on.
fn known_here(state: &State, headers: &HeaderMap) -> bool {
    let Some(token) = &state.client_token else {
        return true;
    };
    let given = headers.get(TOKEN).map(HeaderValue::as_bytes);
    given.is_some_and(|given| own::same(given, token.expose().as_bytes()))
}

fn refused(state: &State, refusal: &Refusal, dialect: Dialect, began: Instant) -> Response<Answer> {
    let answer = refusal.answer(dialect).map(Answer::from);
    state.metrics.refused(refusal.counted());
    let status = answer.status().as_u16();
    state.metrics.answered(status, None, began.elapsed());
    Span::current().record("status", status);
    answer
}

async fn pass(
    state: &Arc<State>,
    request: Request<Incoming>,
    route: Route,
    began: Instant,
    permit: OwnedSemaphorePermit,
) -> Result<Response<Answer>, Refusal> {
    let (parts, body) = request.into_parts();
    let number = state.calls.fetch_add(1, Ordering::Relaxed);
    let uri = state.upstream.uri(&parts.uri).ok_or(Refusal::ClientBroke)?;
    let passed = Arc::new(headers::onward(&parts.headers, state.upstream.host()));
    // Only what the upstream gets can tell it who asks.
    let credentials = Credentials::of(&passed, parts.uri.query());
    let keyless_are_one = state.on_loopback || state.keyless == KeylessClients::Shared;
    let is_apart = credentials.is_empty() && !keyless_are_one;
    let (of_key, tenant) = {
        let tenants = state.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let of_key = match is_apart {
            true => tenants.nobody(number),
            false => tenants.of(&credentials),
        };
        (of_key, tenants.whose(of_key))
    };
    let subject = Subject {
        tenant,
        path: parts.uri.path(),
        headers: &parts.headers,
        model: None,
    };
    let decided = state.policies.decide(subject);
    let mut call = Call {
        number,
        is_apart,
        // An upstream that sends headers back would say whatever the client says.
        tells_organisation: parts.headers.contains_key(ORGANISATION),
        at: Timestamp::now(),
        began,
        of_key,
        dialect: route.dialect(),
        policy: match route {
            // What is no conversation is passed on unread, whatever the rules say.
            Route::Own | Route::Other(_) => Policy::Off,
            _ => decided.unwrap_or_default(),
        },
        ..Call::default()
    };
    let (most, idle) = (state.limits.body, state.timeouts.client_idle);
    let read = match route {
        Route::Conversation(_) => decided != Some(Policy::Off),
        Route::Counting => decided.is_none_or(|policy| policy == Policy::Manage),
        Route::Own | Route::Other(_) => false,
    };
    let onward = if read {
        let body = upstream::whole(body, most, idle, &state.budget).await?;
        let asked = line::Request {
            tenant,
            dialect: route.dialect(),
            body: &body,
        };
        let placing = Placing {
            state,
            asked,
            body: &body,
            headers: &parts.headers,
            passed: &passed,
            uri: &uri,
        };
        match placing::recognise(state, asked, &body).await? {
            Ok(recognised) => {
                let model = recognised.outline.model(&body);
                let model_known = Subject {
                    model: Some(&model),
                    ..subject
                };
                call.policy = state.policies.decide(model_known).unwrap_or_default();
                if call.policy == Policy::Manage && recognised.outline.members.threaded {
                    return Err(Refusal::Thread);
                }
                match route {
                    Route::Counting if call.is_apart => {}
                    Route::Counting => placing.count(&mut call, recognised).await,
                    _ => placing.place(&mut call, recognised).await,
                }
            }
            Err(not) => {
                call.policy = call.policy.min(Policy::Observe);
                call.note = Some(not.to_string());
            }
        }
        let sending = call.material.as_ref().map(|material| &material.sending);
        let sending = sending.map_or_else(|| Sending::as_it_came(&body), Sending::clone);
        Body::Whole(sending.parts)
    } else {
        Body::Coming(Onward::coming(body, most, idle)?)
    };
    let again = Again {
        parts: &parts,
        passed,
        uri,
    };
    let mut under_way = UnderWay::begin(Arc::clone(state), call);
    let mut outcome = match state.upstream.send(again.request(onward)).await {
        Ok(answer) => withheld::look(state, under_way.call_mut(), answer).await,
        Err(refusal) => Err(refusal),
    };
    // Something else is sent for it now: once more.
    while let Ok(Outcome::Retry(parts, first)) = outcome {
        outcome = match state.upstream.send(again.changed(parts)).await {
            Ok(answer) => withheld::look(state, under_way.call_mut(), answer).await,
            // The first answer is still an answer.
            Err(_) => Ok(Outcome::Held(first)),
        };
    }
    match outcome {
        Ok(outcome) => {
            let (status, headers) = outcome.head();
            if let Some(told) = under_way.answered(status, headers) {
                told.done().await;
            }
            Ok(under_way.end(outcome, permit))
        }
        Err(refusal) => {
            under_way.ended = Ended::UpstreamFailed;
            under_way.status = refusal.answer(route.dialect()).status().as_u16();
            Err(refusal)
        }
    }
}

/// A body for the upstream.
enum Body {
    Whole(Vec<Bytes>),
    Coming(Onward),
}

/// What is needed to make the upstream's request, as often as it is sent.
struct Again<'r> {
    parts: &'r Parts,
    passed: Arc<HeaderMap>,
    uri: http::Uri,
}

impl Again<'_> {
    /// The request with another body: it is none that the upstream may have seen.
    fn changed(&self, parts: Vec<Bytes>) -> Request<Onward> {
        let mut request = self.request(Body::Whole(parts));
        headers::without_claims(request.headers_mut());
        request
    }

    fn request(&self, body: Body) -> Request<Onward> {
        let (body, length) = match body {
            Body::Whole(parts) => {
                let length: usize = parts.iter().map(Bytes::len).sum();
                (Onward::parts(parts), Some(length))
            }
            Body::Coming(body) => (body, None),
        };
        let mut onward = Request::new(body);
        *onward.method_mut() = self.parts.method.clone();
        *onward.uri_mut() = self.uri.clone();
        *onward.headers_mut() = HeaderMap::clone(&self.passed);
        if let Some(length) = length
            && let Some(told) = onward.headers_mut().get_mut(header::CONTENT_LENGTH)
        {
            *told = HeaderValue::from(length);
        }
        // Holds how header names were written.
        *onward.extensions_mut() = self.parts.extensions.clone();
        onward
    }
}

//! Handles one request: it is recognized and prepared according to the policy, passed on, and its response passed back.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::request::Parts;
use http::{Request, Response, Uri};
use hyper::body::Incoming;
use jiff::Timestamp;
use tokio::sync::OwnedSemaphorePermit;

use super::after_reply::CallSecrets;
use super::call_details::CallDetails;
use super::in_flight::{InFlightCall, ORGANIZATION};
use super::placement::{self, RequestPlacement};
use super::response_body::ClientBody;
use super::response_check;
use super::response_decision::ResponseDecision;
use super::routes::GatewayRoute;
use crate::branch::{self, Credentials, Tenant};
use crate::calling_agent::CallingAgent;
use crate::manage::Recallability;
use crate::options::KeylessClients;
use crate::policy::{PolicySubject, RequestPolicy};
use crate::recall::RecallOffered;
use crate::refusal::GatewayRefusal;
use crate::state::GatewayState;
use crate::store::CallEnding;
use crate::upstream::headers;
use crate::upstream::{self, UpstreamBody};

/// The body of a client's request.
pub(super) enum ClientRequestBody {
    Coming(Incoming),
    /// It was read before.
    Read(Bytes),
}

/// Who sent a request.
pub(super) struct RequestCaller {
    /// The tenant by its key alone.
    pub(super) of_key: Tenant,
    /// The tenant by its organization, if that is known.
    pub(super) tenant: Tenant,
    /// Whether nothing may be remembered of the request.
    pub(super) is_apart: bool,
}

/// Finds out who sent a request, by what the upstream receives: only that can tell it who is asking.
pub(super) fn caller(
    state: &GatewayState,
    passed: &HeaderMap,
    query: Option<&str>,
    number: u64,
) -> RequestCaller {
    let credentials = Credentials::of(passed, query);
    let keyless_are_one = state.on_loopback || state.keyless == KeylessClients::Shared;
    let is_apart = credentials.is_empty() && !keyless_are_one;
    let tenants = state.tenants.lock().unwrap_or_else(PoisonError::into_inner);
    let of_key = if is_apart {
        tenants.nobody(number)
    } else {
        tenants.of(&credentials)
    };
    RequestCaller {
        of_key,
        tenant: tenants.whose(of_key),
        is_apart,
    }
}

/// A request whose body has not been read yet.
struct ArrivedRequest<'r> {
    state: &'r Arc<GatewayState>,
    parts: &'r Parts,
    /// The headers that are passed on.
    passed: &'r Arc<HeaderMap>,
    /// Its address at the upstream.
    uri: &'r Uri,
    route: GatewayRoute,
    subject: PolicySubject<'r>,
    /// The policy, as far as it can be decided without the body.
    decided: Option<RequestPolicy>,
}

impl ArrivedRequest<'_> {
    /// What its head says of the call.
    fn details(&self) -> CallDetails {
        let Self { state, parts, .. } = self;
        CallDetails {
            // An upstream that echoes headers would repeat whatever the client says.
            tells_organization: parts.headers.contains_key(ORGANIZATION),
            dialect: self.route.dialect(),
            caller: (parts.extensions.get::<CallingAgent>().cloned())
                .or_else(|| state.caller.clone())
                .unwrap_or_else(|| CallingAgent::of_headers(&parts.headers)),
            policy: match self.route {
                // A request that is not a conversation is passed on unread, whatever the rules say.
                GatewayRoute::Own | GatewayRoute::Other(_) => RequestPolicy::Off,
                _ => self.decided.unwrap_or_default(),
            },
            recall: match parts.extensions.get::<RecallOffered>() {
                Some(_) => Recallability::Recallable,
                None => Recallability::NotRecallable,
            },
            secrets: CallSecrets {
                headers: Arc::clone(self.passed),
                query: parts.uri.query().map(str::to_owned),
            },
            ..CallDetails::default()
        }
    }

    /// Whether the body has to be read here.
    fn is_read(&self) -> bool {
        match self.route {
            GatewayRoute::Conversation(_) => self.decided != Some(RequestPolicy::Off),
            GatewayRoute::Counting => (self.decided).is_none_or(|it| it == RequestPolicy::Manage),
            GatewayRoute::Own | GatewayRoute::Other(_) => false,
        }
    }

    /// The body for the upstream: the conversation is read, placed and prepared, as far as the policy says so.
    async fn body(
        &self,
        body: ClientRequestBody,
        call: &mut CallDetails,
    ) -> Result<ExchangeBody, GatewayRefusal> {
        let state = self.state;
        let (most, idle) = (state.limits.body, state.timeouts.client_idle);
        let body = match body {
            ClientRequestBody::Read(body) => body,
            ClientRequestBody::Coming(body) if self.is_read() => {
                upstream::whole(body, most, idle, &state.budget).await?
            }
            ClientRequestBody::Coming(body) => {
                return Ok(ExchangeBody::Coming(UpstreamBody::coming(
                    body, most, idle,
                )?));
            }
        };
        if self.is_read() {
            self.place(&body, call).await?;
        }
        let prepared = call.context.as_ref().map(|context| &context.outgoing);
        Ok(ExchangeBody::Whole(match prepared {
            Some(prepared) => prepared.parts.clone(),
            None => vec![body],
        }))
    }

    /// Reads and places the conversation, and decides what is sent for it.
    async fn place(&self, body: &Bytes, call: &mut CallDetails) -> Result<(), GatewayRefusal> {
        let state = self.state;
        let asked = branch::RecognitionRequest {
            tenant: self.subject.tenant,
            dialect: self.route.dialect(),
            body,
        };
        let placing = RequestPlacement {
            state,
            asked,
            body,
            headers: &self.parts.headers,
            passed: self.passed,
            uri: self.uri,
        };
        let recognized = match placement::recognize(state, asked, body).await? {
            Ok(recognized) => recognized,
            Err(not) => {
                call.policy = call.policy.min(RequestPolicy::Observe);
                call.note = Some(not.to_string());
                return Ok(());
            }
        };
        let model = recognized.outline.model(body);
        let model_known = PolicySubject {
            model: Some(&model),
            ..self.subject
        };
        call.policy = state.policies.decide(model_known).unwrap_or_default();
        call.economy = state.policies.economy(model_known);
        call.reduce = state.policies.reduce(model_known);
        if call.policy == RequestPolicy::Manage && recognized.outline.members.threaded {
            return Err(GatewayRefusal::Thread);
        }
        match self.route {
            GatewayRoute::Counting if call.is_apart => {}
            GatewayRoute::Counting => placing.count(call, recognized).await,
            _ => placing.place(call, recognized).await,
        }
        Ok(())
    }
}

/// Passes a request on. Its head and body are apart because a body may have been read, or made, by the caller.
pub(super) async fn pass(
    state: &Arc<GatewayState>,
    (parts, body): (Parts, ClientRequestBody),
    (route, began): (GatewayRoute, Instant),
    permit: OwnedSemaphorePermit,
) -> Result<Response<ClientBody>, GatewayRefusal> {
    let number = state.calls.fetch_add(1, Ordering::Relaxed);
    let uri = state
        .upstream
        .uri(&parts.uri)
        .ok_or(GatewayRefusal::ClientBroke)?;
    let passed = Arc::new(headers::onward(&parts.headers, state.upstream.host()));
    let RequestCaller {
        of_key,
        tenant,
        is_apart,
    } = caller(state, &passed, parts.uri.query(), number);
    let subject = PolicySubject {
        tenant,
        path: parts.uri.path(),
        headers: &parts.headers,
        model: None,
    };
    if subject.asks_for_unknown() {
        return Err(GatewayRefusal::UnknownPolicy);
    }
    let arrived = ArrivedRequest {
        state,
        parts: &parts,
        passed: &passed,
        uri: &uri,
        route,
        subject,
        decided: state.policies.decide(subject),
    };
    let mut call = CallDetails {
        number,
        is_apart,
        at: Timestamp::now(),
        began,
        of_key,
        ..arrived.details()
    };
    let onward = arrived.body(body, &mut call).await?;
    let again = UpstreamRequestParts {
        parts: &parts,
        passed,
        uri,
    };
    let mut under_way = InFlightCall::begin(Arc::clone(state), call);
    let mut outcome = match state.upstream.send(again.request(onward)).await {
        Ok(answer) => response_check::check_response(state, under_way.call_mut(), answer).await,
        Err(refusal) => Err(refusal),
    };
    // The request was changed: send it again.
    while let Ok(ResponseDecision::Retry(parts, first)) = outcome {
        outcome = match state.upstream.send(again.changed(parts)).await {
            Ok(answer) => response_check::check_response(state, under_way.call_mut(), answer).await,
            // The first response is still a valid response.
            Err(_) => Ok(ResponseDecision::Held(first)),
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
            under_way.ended = CallEnding::UpstreamFailed;
            under_way.status = refusal.answer(route.dialect()).status().as_u16();
            under_way.error = Some(refusal.message());
            Err(refusal)
        }
    }
}

/// A body for the upstream.
enum ExchangeBody {
    Whole(Vec<Bytes>),
    Coming(UpstreamBody),
}

/// What is needed to build the upstream's request, as often as it is sent.
struct UpstreamRequestParts<'r> {
    parts: &'r Parts,
    passed: Arc<HeaderMap>,
    uri: Uri,
}

impl UpstreamRequestParts<'_> {
    /// The request with a different body, which the upstream cannot have seen.
    fn changed(&self, parts: Vec<Bytes>) -> Request<UpstreamBody> {
        let mut request = self.request(ExchangeBody::Whole(parts));
        headers::without_claims(request.headers_mut());
        request
    }

    fn request(&self, body: ExchangeBody) -> Request<UpstreamBody> {
        let (body, length) = match body {
            ExchangeBody::Whole(parts) => {
                let length: usize = parts.iter().map(Bytes::len).sum();
                (UpstreamBody::parts(parts), Some(length))
            }
            ExchangeBody::Coming(body) => (body, None),
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
        // The extensions hold the original spelling of header names.
        *onward.extensions_mut() = self.parts.extensions.clone();
        onward
    }
}

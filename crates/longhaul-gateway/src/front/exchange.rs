//! One request, taken through: recognised if the policy says so, passed on as it came, its answer passed back.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use hyper::body::Incoming;
use jiff::Timestamp;
use longhaul_provider::Dialect;
use tokio::sync::OwnedSemaphorePermit;

use super::collect::{self, Onward};
use super::headers;
use super::meeting::{OfKey, Told};
use super::passing::{Answer, Passing, Report};
use super::refuse::Refusal;
use super::routes::Route;
use super::state::State;
use crate::body::NotAConversation;
use crate::line::{self, Group, LineId, Placed, Recognised, Relation, Tenant};
use crate::own;
use crate::policy::{Policy, Subject};
use crate::store::{CallRecord, Ended, LineRecord};
use crate::watch::{Done, Measured, Sent, Tap, ToWatch};

/// Bodies of which more than this is unknown are read on a thread of their own.
const LONG: usize = 512 << 10;

const SESSION: HeaderName = HeaderName::from_static("x-longhaul-session");
const LINE: HeaderName = HeaderName::from_static("x-longhaul-line");
const POLICY: HeaderName = HeaderName::from_static("x-longhaul-policy");
const NOTE: HeaderName = HeaderName::from_static("x-longhaul-note");
const ORGANISATION: &str = "anthropic-organization-id";

/// What is known of a call while it is under way.
struct Call {
    number: u64,
    at: Timestamp,
    began: Instant,
    of_key: Tenant,
    dialect: Dialect,
    policy: Policy,
    /// Where the conversation was placed, and how many messages it has.
    placed: Option<(Placed, u32)>,
    model: Option<String>,
    note: Option<String>,
    told: Option<Told>,
}

/// Answers one request. Never fails: failures are answers.
pub(super) async fn answer(state: Arc<State>, request: Request<Incoming>) -> Response<Answer> {
    let route = Route::of(request.method(), request.uri().path());
    if route == Route::Own {
        return own::answer(&state, &request).await;
    }
    let began = Instant::now();
    let Ok(permit) = Arc::clone(&state.requests).try_acquire_owned() else {
        let most = state.limits.requests;
        return refused(&state, &Refusal::Busy { most }, route.dialect(), began);
    };
    match pass(&state, request, route, began, permit).await {
        Ok(answer) => answer,
        Err(refusal) => refused(&state, &refusal, route.dialect(), began),
    }
}

fn refused(state: &State, refusal: &Refusal, dialect: Dialect, began: Instant) -> Response<Answer> {
    let answer = refusal.answer(dialect);
    state.metrics.refused(refusal.counted());
    let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    state.metrics.answered(answer.status().as_u16(), millis);
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
    let (of_key, tenant) = {
        let tenants = state.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let of_key = tenants.of_key(&parts.headers);
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
        number: state.calls.fetch_add(1, Ordering::Relaxed),
        at: Timestamp::now(),
        began,
        of_key,
        dialect: route.dialect(),
        policy: decided.unwrap_or_default(),
        placed: None,
        model: None,
        note: None,
        told: None,
    };
    let (most, idle) = (state.limits.body, state.timeouts.client_idle);
    let onward = match route {
        Route::Conversation(dialect) if decided != Some(Policy::Off) => {
            let body = collect::whole(body, most, idle).await?;
            let asked = line::Request {
                tenant,
                dialect,
                body: &body,
            };
            match recognise(state, asked, &body).await {
                Ok(recognised) => {
                    let model = recognised.outline.model(&body);
                    let model_known = Subject {
                        model: Some(&model),
                        ..subject
                    };
                    call.policy = state.policies.decide(model_known).unwrap_or_default();
                    if call.policy == Policy::Observe {
                        (state.meeting)
                            .catch_up(
                                &state.recogniser,
                                (OfKey(of_key), tenant),
                                &recognised.hashes,
                            )
                            .await;
                        observe(state, &mut call, &parts.headers, asked, recognised, &body);
                    }
                }
                Err(not) => call.note = Some(not.to_string()),
            }
            Onward::Whole(Some(body))
        }
        _ => Onward::coming(body, most, idle)?,
    };
    let mut onward = Request::new(onward);
    *onward.method_mut() = parts.method;
    *onward.uri_mut() = state.upstream.uri(&parts.uri).ok_or(Refusal::ClientBroke)?;
    *onward.headers_mut() = headers::onward(&parts.headers, state.upstream.host());
    // Holds how header names were written.
    *onward.extensions_mut() = parts.extensions;
    let told = call.told.take();
    let mut under_way = UnderWay::begin(Arc::clone(state), call);
    let sent = state.upstream.send(onward).await;
    if let Some(told) = told {
        told.done().await;
    }
    match sent {
        Ok(answer) => Ok(under_way.end(answer, permit)),
        Err(refusal) => {
            under_way.ended = Ended::UpstreamFailed;
            under_way.status = refusal.answer(route.dialect()).status().as_u16();
            Err(refusal)
        }
    }
}

/// Reads a conversation; on a thread of its own if that would keep others waiting.
async fn recognise(
    state: &Arc<State>,
    request: line::Request<'_>,
    body: &Bytes,
) -> Result<Recognised, NotAConversation> {
    let (starts, shared) = state.recogniser.shared(request);
    let unknown = body.len() - shared.as_ref().map_or(0, |shared| shared.known());
    if unknown < LONG {
        return state.recogniser.read_rest(request, starts, shared);
    }
    let (state, body) = (Arc::clone(state), body.clone());
    let (tenant, dialect) = (request.tenant, request.dialect);
    let reading = tokio::task::spawn_blocking(move || {
        let request = line::Request {
            tenant,
            dialect,
            body: &body,
        };
        state.recogniser.read_rest(request, starts, shared)
    });
    reading.await.unwrap_or(Err(NotAConversation::OtherShape))
}

/// Places a conversation and writes it down.
fn observe(
    state: &State,
    call: &mut Call,
    headers: &HeaderMap,
    request: line::Request<'_>,
    recognised: Recognised,
    body: &Bytes,
) {
    let model = recognised.outline.model(body).into_owned();
    call.model = Some(model.clone());
    let members = &recognised.outline.members;
    if members.threaded {
        // What is sent is not the whole history: the upstream holds it.
        call.note = Some("a thread that the upstream holds; not recognised".to_owned());
        return;
    }
    let metadata = members.metadata.clone().and_then(|span| body.get(span));
    let group = Group::of(request.tenant, headers, metadata);
    let session = group.as_ref().map(|group| group.session);
    let placed = state.recogniser.place(request, &recognised, session);
    state.metrics.placed(placed.relation);
    let messages = recognised.chain.messages;
    call.placed = Some((placed, messages));
    call.note = Some(match placed.relation {
        Relation::New => "a new conversation".to_owned(),
        Relation::Again => "the same request as before".to_owned(),
        Relation::Extends(known) => format!("{} messages more", messages.saturating_sub(known)),
        Relation::Branches(from, at) => format!("a branch of {from} behind {at} messages"),
    });
    let watched = request.dialect == Dialect::Anthropic;
    let betas = || {
        let values = headers.get_all("anthropic-beta").iter();
        let texts: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
        texts.join(",")
    };
    let line = LineRecord {
        line: placed.line,
        tenant: request.tenant,
        session: placed.session,
        parent: match placed.relation {
            Relation::Branches(from, _) => Some(from),
            _ => None,
        },
        chain: recognised.chain,
        model,
        agent: group.is_some_and(|group| group.agent),
        seen: call.at,
    };
    call.told = state.meeting.tell(&line);
    state.desk.sent(Sent {
        call: call.number,
        at: call.at,
        line,
        watch: watched.then(|| ToWatch {
            session: placed.session,
            body: body.clone(),
            raws: recognised.raws,
            betas: betas(),
            outline: recognised.outline,
        }),
    });
}

/// A call that was passed on. Dropped before its answer began, it is written down as given up by the client.
struct UnderWay {
    state: Arc<State>,
    call: Option<Call>,
    ended: Ended,
    status: u16,
}

impl UnderWay {
    fn begin(state: Arc<State>, call: Call) -> Self {
        state.metrics.in_flight(1);
        Self {
            state,
            call: Some(call),
            ended: Ended::ClientGone,
            // As others write down a client that went away before an answer.
            status: 499,
        }
    }

    /// The answer begins.
    fn end(
        &mut self,
        answer: Response<Incoming>,
        permit: OwnedSemaphorePermit,
    ) -> Response<Answer> {
        let (mut parts, body) = answer.into_parts();
        let state = Arc::clone(&self.state);
        let call = self.call.take();
        let status = parts.status.as_u16();
        let tap = call.as_ref().filter(|call| call.model.is_some());
        let tap = tap.map(|call| Tap::new(call.dialect, &parts.headers));
        parts.headers = headers::back(std::mem::take(&mut parts.headers));
        if let Some(call) = &call {
            learn(&state, call.of_key, &parts.headers);
            tell(call, &mut parts.headers);
        }
        let began = call.as_ref().map_or_else(Instant::now, |call| call.began);
        let passing = Passing {
            body,
            tap,
            report: call.and_then(|call| report(call, status)),
            status,
            began,
            idle: state.timeouts.upstream_idle,
            state,
            silence: None,
            ended: None,
            _permit: permit,
        };
        Response::from_parts(parts, Answer::Passing(Box::new(passing)))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let Some(call) = self.call.take() else {
            return;
        };
        self.state.metrics.in_flight(-1);
        let millis = u64::try_from(call.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(mut report) = report(call, self.status) {
            report.record.ended = self.ended;
            report.record.millis = millis;
            self.state.desk.done(Done {
                call: report.call,
                line: report.line,
                record: report.record,
                measured: Measured::Usage(None),
            });
        }
    }
}

/// What is to be written down of a call; nothing of one that was not read.
fn report(call: Call, status: u16) -> Option<Report> {
    let line: Option<LineId> = call.placed.map(|(placed, _)| placed.line);
    Some(Report {
        call: call.number,
        line,
        record: CallRecord {
            at: call.at,
            model: call.model?,
            messages: call.placed.map_or(0, |(_, messages)| messages),
            status,
            ended: Ended::Whole,
            millis: 0,
            usage: None,
            cost: None,
            finding: None,
            saved: 0,
            rewritten: false,
        },
    })
}

/// The upstream may say which organisation a key belongs to.
fn learn(state: &State, of_key: Tenant, headers: &HeaderMap) {
    let Some(organisation) = headers.get(ORGANISATION) else {
        return;
    };
    let news = {
        let mut tenants = state.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let before = tenants.whose(of_key);
        let tenant = tenants.belongs_to(of_key, organisation.as_bytes());
        tenant.map(|tenant| (before, tenant))
    };
    if let Some((before, tenant)) = news {
        // Only what was the key's own goes over; what was another organisation's stays there.
        if before == of_key {
            state
                .recogniser
                .with_lines(|lines| lines.adopt(of_key, tenant));
        }
        state.desk.tenant(of_key, tenant);
    }
}

/// Says in the answer's headers what was done.
fn tell(call: &Call, headers: &mut HeaderMap) {
    headers.insert(POLICY, HeaderValue::from_static(call.policy.name()));
    let text = |text: String| HeaderValue::try_from(text).ok();
    if let Some((placed, _)) = &call.placed {
        headers.extend(text(placed.session.to_string()).map(|value| (SESSION, value)));
        headers.extend(text(placed.line.to_string()).map(|value| (LINE, value)));
    }
    let note = call.note.clone().and_then(text);
    headers.extend(note.map(|value| (NOTE, value)));
}

//! A call that was passed on: what is known of it until its response has begun.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use http::{HeaderMap, Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;
use tracing::Span;

use super::after_reply::CallReport;
use super::call_details::{CallDetails, UnrecordedPlacement};
use super::response_body::{ClientBody, ForwardedResponse, HasEnded, ResponseSource};
use super::response_decision::ResponseDecision;
use super::response_headers::set_response_headers;
use crate::branch::Tenant;
use crate::peer_sync::{KeyTenant, PendingPeerWrite};
use crate::recall::ReplacedBeginning;
use crate::state::GatewayState;
use crate::store::{CallEnding, CallOrigin, CallRecord};
use crate::upstream::headers;
use crate::watch::{CompletedCall, UsageCompleteness, UsageTap};

/// The header in which the upstream names the organization of a key.
pub(super) const ORGANIZATION: &str = "anthropic-organization-id";

/// A call that was passed on. If it is dropped before its response began, it is recorded as abandoned by the client.
pub(super) struct InFlightCall {
    state: Arc<GatewayState>,
    call: Option<CallDetails>,
    pub(super) ended: CallEnding,
    pub(super) status: u16,
    /// Why there is no answer, in the gateway's own words.
    pub(super) error: Option<String>,
}

impl InFlightCall {
    pub(super) fn begin(state: Arc<GatewayState>, call: CallDetails) -> Self {
        state.metrics.in_flight(1);
        Self {
            state,
            call: Some(call),
            ended: CallEnding::ClientGone,
            // Other servers also record this status for a client that left before the response.
            status: 499,
            error: None,
        }
    }

    pub(super) fn call_mut(&mut self) -> Option<&mut CallDetails> {
        self.call.as_mut()
    }

    /// The upstream has responded. If it accepted the request, the request is remembered, recorded, and published to
    /// other gateways; the caller waits for the returned value. Nothing is kept of a rejected request.
    pub(super) fn answered(
        &mut self,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Option<PendingPeerWrite> {
        let state = &self.state;
        let call = self.call.as_mut().filter(|_| status.is_success())?;
        if !call.tells_organization && !call.is_apart {
            learn(state, call.of_key, headers);
        }
        let UnrecordedPlacement { pending, mut sent } = *call.waiting.take()?;
        let whose = || {
            let tenants = state.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            tenants.whose(call.of_key)
        };
        let placed = state.recognizer.keep(whose, pending);
        state.metrics.placed(placed.relation);
        sent.is_placed(placed);
        if let Some((found, _)) = &mut call.placed {
            *found = placed;
        }
        if let Some(context) = &mut call.context {
            context.placed = placed;
            context.asking.books.is_placed(placed);
        }
        let told = state.peer_sync.publish(KeyTenant(call.of_key), &sent.line);
        state.usage_queue.sent(sent);
        told
    }

    /// Begins the response to the client.
    pub(super) fn end(
        &mut self,
        outcome: ResponseDecision,
        permit: OwnedSemaphorePermit,
    ) -> Response<ClientBody> {
        let (mut parts, body) = match outcome {
            ResponseDecision::Pass(answer) => {
                let (parts, body) = answer.into_parts();
                (parts, ResponseSource::Coming(body))
            }
            ResponseDecision::Held(answer) | ResponseDecision::Retry(_, answer) => {
                let (parts, body) = answer.into_parts();
                (parts, ResponseSource::Held(Some(body)))
            }
        };
        let state = Arc::clone(&self.state);
        let mut call = self.call.take();
        let status = parts.status.as_u16();
        let tap = call.as_ref().filter(|call| call.model.is_some());
        let tap = tap.map(|call| UsageTap::new(call.dialect, &parts.headers, &state.budget));
        parts.headers = headers::back(std::mem::take(&mut parts.headers));
        if let Some(call) = &call {
            forget(&state, call);
            set_response_headers(call, parts.status, &mut parts.headers);
            let context = call.context.as_ref().filter(|_| state.recall.is_some());
            let replaced = context.and_then(|context| context.outgoing.replaced.as_ref());
            if let Some((base, until)) = replaced {
                let replaced = ReplacedBeginning::new(&base.prefix, *until);
                parts.extensions.insert(replaced);
            }
        }
        if let Some(context) = call.as_mut().and_then(|call| call.context.as_mut()) {
            state.compactor.sent(context);
        }
        let began = call.as_ref().map_or_else(Instant::now, |call| call.began);
        if let Some(call) = &mut call {
            call.answered_after = u64::try_from(began.elapsed().as_millis()).ok();
        }
        let policy = call.as_ref().map(|call| call.policy).unwrap_or_default();
        let span = Span::current();
        span.record("status", status);
        if let Some(call) = &call {
            trace(&span, call);
        }
        let passing = ForwardedResponse {
            body,
            tap,
            report: call.and_then(|call| report(call, status)),
            status,
            policy,
            span,
            began,
            idle: state.timeouts.upstream_idle,
            state,
            silence: None,
            has_ended: HasEnded::No,
            error: None,
            _permit: permit,
        };
        Response::from_parts(parts, ClientBody::Passing(Box::new(passing)))
    }
}

impl Drop for InFlightCall {
    fn drop(&mut self) {
        let Some(call) = self.call.take() else {
            return;
        };
        self.state.metrics.in_flight(-1);
        let took = call.began.elapsed();
        if self.ended == CallEnding::ClientGone {
            // Other endings are reported by the code that answers them.
            self.state
                .metrics
                .answered(self.status, Some(call.policy), took);
        }
        forget(&self.state, &call);
        trace(&Span::current(), &call);
        Span::current().record("ended", self.ended.name());
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if let Some(mut report) = report(call, self.status) {
            report.record.ended = self.ended;
            report.record.millis = millis;
            report.record.error = self.error.take();
            self.state.usage_queue.done(CompletedCall {
                call: report.call,
                line: report.line,
                record: report.record,
                usage: None,
                extent: UsageCompleteness::Whole,
            });
        }
    }
}

/// Drops what was stored for a branch that did not begin after all.
fn forget(state: &GatewayState, call: &CallDetails) {
    if let (Some((placed, _)), None) = (&call.placed, call.line()) {
        state.compactor.forget(placed.line);
    }
}

/// Records on a trace what is known of a call: names and numbers, no content.
fn trace(span: &Span, call: &CallDetails) {
    span.record("policy", call.policy.name());
    if let Some(model) = &call.model {
        span.record("model", model.as_str());
    }
    if let (Some((placed, messages)), Some(_)) = (&call.placed, call.line()) {
        span.record("session", tracing::field::display(placed.session));
        span.record("line", tracing::field::display(placed.line));
        span.record("messages", messages);
    }
}

/// What is to be recorded of a call; `None` for one that was not read.
fn report(call: CallDetails, status: u16) -> Option<CallReport> {
    let line = call.line();
    let breakpoints = call.sent_breakpoints();
    let messages = call.placed.map_or(0, |(_, messages)| messages);
    Some(CallReport {
        call: call.number,
        line,
        record: CallRecord {
            caller: call.caller,
            began: call.answered_after,
            breakpoints,
            origin: CallOrigin {
                key: Some(call.of_key),
                ..CallOrigin::default()
            },
            ..CallRecord::begun(call.at, call.model?, messages, status)
        },
        context: call.context,
        secrets: call.secrets,
    })
}

/// Learns from the response which organization a key belongs to.
fn learn(state: &GatewayState, of_key: Tenant, headers: &HeaderMap) {
    let Some(organization) = headers.get(ORGANIZATION) else {
        return;
    };
    let news = {
        let mut tenants = state.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let before = tenants.whose(of_key);
        let tenant = tenants.belongs_to(of_key, organization.as_bytes());
        tenant.map(|tenant| (before, tenant))
    };
    // The tenant is known first, then branches move over: a branch that is placed in between belongs to the
    // organization.
    if let Some((before, tenant)) = news {
        // Only branches of the key itself move over; those of another organization stay there.
        if before == of_key {
            state
                .recognizer
                .with_branches(|lines| lines.adopt(of_key, tenant));
            state.compactor.adopt(of_key, tenant);
        }
        state.usage_queue.tenant(of_key, tenant);
    }
}

//! A call that was passed on: what is known of it until its response has begun.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use jiff::Timestamp;
use longhaul_core::config::ResultReduction;
use longhaul_core::economy::{EconomyPolicy, RecordedEconomyAction};
use longhaul_provider::Dialect;
use tokio::sync::OwnedSemaphorePermit;
use tracing::Span;

use super::after_reply::{CallReport, CallSecrets};
use super::response_body::{ClientBody, ForwardedResponse, HasEnded, ResponseSource};
use super::response_check::ResponseDecision;
use crate::branch::{BranchId, BranchPlacement, BranchRelation, PendingPlacement, Tenant};
use crate::calling_agent::CallingAgent;
use crate::manage::{BreakpointOwner, Recallability, RequestContext};
use crate::peer_sync::{KeyTenant, PendingPeerWrite};
use crate::policy::RequestPolicy;
use crate::recall::ReplacedBeginning;
use crate::state::GatewayState;
use crate::store::{CallEnding, CallOrigin, CallRecord};
use crate::upstream::headers;
use crate::watch::{CompletedCall, SentRequest, UsageCompleteness, UsageTap, WatchedRequest};

const SESSION: HeaderName = HeaderName::from_static("x-longhaul-session");
const LINE: HeaderName = HeaderName::from_static("x-longhaul-line");
const POLICY: HeaderName = HeaderName::from_static("x-longhaul-policy");
const NOTE: HeaderName = HeaderName::from_static("x-longhaul-note");
const ACTION: HeaderName = HeaderName::from_static("x-longhaul-action");
const REPLACED: HeaderName = HeaderName::from_static("x-longhaul-replaced-messages");
const LEFT_OUT: HeaderName = HeaderName::from_static("x-longhaul-saved-bytes");
const MARKS: HeaderName = HeaderName::from_static("x-longhaul-marks");
const REDUCED: HeaderName = HeaderName::from_static("x-longhaul-reduced-results");
const ECONOMY: HeaderName = HeaderName::from_static("x-longhaul-economy");
const WAITED: HeaderName = HeaderName::from_static("x-longhaul-waited-ms");
/// The header in which the upstream names the organization of a key.
pub(super) const ORGANISATION: &str = "anthropic-organization-id";

/// The known facts about a call while it is in flight.
pub(super) struct CallDetails {
    pub(super) number: u64,
    pub(super) at: Timestamp,
    pub(super) began: Instant,
    pub(super) of_key: Tenant,
    pub(super) dialect: Dialect,
    pub(super) policy: RequestPolicy,
    /// Where the conversation was placed, and how many messages it has.
    pub(super) placed: Option<(BranchPlacement, u32)>,
    pub(super) model: Option<String>,
    pub(super) note: Option<String>,
    /// What was sent, if the conversation is managed.
    pub(super) context: Option<Box<RequestContext>>,
    /// How often the request was too long and was shortened.
    pub(super) shortened: u32,
    /// Whether its thinking was rejected and left out.
    pub(super) unbound: bool,
    /// The facts that are remembered about it, once the upstream has answered successfully.
    pub(super) waiting: Option<Box<UnrecordedPlacement>>,
    /// Whether nothing may be remembered of it, because it came from another machine without credentials.
    pub(super) is_apart: bool,
    /// Whether the client itself sent the header in which the upstream names organizations: the response may only echo
    /// it.
    pub(super) tells_organisation: bool,
    /// How long the request was held, in milliseconds.
    pub(super) waited: u64,
    /// Which actions are decided by their price, if a rule says so for this request.
    pub(super) economy: Option<EconomyPolicy>,
    /// How new results are made smaller, if a rule says so for this request.
    pub(super) reduce: Option<ResultReduction>,
    /// Which agent made it.
    pub(super) caller: CallingAgent,
    /// Whether the model has a tool that brings back what is no longer sent.
    pub(super) recall: Recallability,
    /// Whether the client's request has cache breakpoints; `None` for an API that has none.
    pub(super) has_breakpoints: Option<bool>,
    /// When the answer began, in milliseconds after the request arrived.
    pub(super) answered_after: Option<u64>,
    /// What must not be in its record.
    pub(super) secrets: CallSecrets,
}

impl Default for CallDetails {
    fn default() -> Self {
        Self {
            number: 0,
            at: Timestamp::UNIX_EPOCH,
            began: Instant::now(),
            of_key: Tenant(0),
            dialect: Dialect::Anthropic,
            policy: RequestPolicy::default(),
            placed: None,
            model: None,
            note: None,
            context: None,
            shortened: 0,
            unbound: false,
            waiting: None,
            is_apart: false,
            tells_organisation: false,
            economy: None,
            reduce: None,
            waited: 0,
            caller: CallingAgent::default(),
            recall: Recallability::NotRecallable,
            has_breakpoints: None,
            answered_after: None,
            secrets: CallSecrets::default(),
        }
    }
}

impl CallDetails {
    /// The upstream did not accept the body, and a different one is sent. The rejected body was never cached: nothing
    /// is compared with it.
    pub(super) fn is_resent(&mut self, watch: Option<WatchedRequest>) {
        if let Some(waiting) = &mut self.waiting {
            waiting.sent.watch = watch;
        }
    }

    /// Whether it was sent with cache breakpoints; `None` for an API that has none.
    pub(super) fn sent_breakpoints(&self) -> Option<bool> {
        let managed = self.context.as_ref().map(|context| context.marked);
        match managed {
            Some(BreakpointOwner::Managed | BreakpointOwner::ManagedNow) => Some(true),
            _ => self.has_breakpoints,
        }
    }

    /// The branch that the request continues or has begun. A branch that it would only have begun is not known to
    /// anyone.
    fn line(&self) -> Option<BranchId> {
        let (placed, _) = self.placed.as_ref()?;
        let begins = matches!(
            placed.relation,
            BranchRelation::New | BranchRelation::Branches(..)
        );
        (self.waiting.is_none() || !begins).then_some(placed.line)
    }
}

/// A request whose place was found, as it is to be remembered and recorded.
pub(super) struct UnrecordedPlacement {
    pub(super) pending: PendingPlacement,
    pub(super) sent: SentRequest,
}

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
        if !call.tells_organisation && !call.is_apart {
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
        if let Some(material) = &mut call.context {
            material.placed = placed;
            material.asking.books.is_placed(placed);
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
                let replaced = ReplacedBeginning::new(&base.rewrite, *until);
                parts.extensions.insert(replaced);
            }
        }
        if let Some(material) = call.as_mut().and_then(|call| call.context.as_mut()) {
            state.compactor.sent(material);
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
    let Some(organisation) = headers.get(ORGANISATION) else {
        return;
    };
    let news = {
        let mut tenants = state.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let before = tenants.whose(of_key);
        let tenant = tenants.belongs_to(of_key, organisation.as_bytes());
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

/// The decision by price that changed this request or begins a summary after it (V6); `None` if there was none.
fn economy_header(material: &RequestContext) -> Option<String> {
    let decisions = [&material.cleared_by_price, &material.summary_pays];
    let record = decisions.into_iter().flatten().next()?;
    let policy = record.policy.as_str();
    let action = match record.action {
        RecordedEconomyAction::Clear => "clear",
        RecordedEconomyAction::Summarize => "summarize",
    };
    let pay_back = record
        .pay_back_requests
        .map_or(String::new(), |requests| format!("; pay-back={requests}"));
    let waived = record
        .waived_usd
        .map_or(String::new(), |waived| format!("; waived-usd={waived:.6}"));
    Some(format!(
        "policy={policy}; action={action}; price-usd={:.6}; rent-usd={:.6}{waived}; tokens-freed={}{pay_back}",
        record.price_usd, record.rent_usd, record.tokens_freed
    ))
}

/// Reports in the response headers what was done.
fn set_response_headers(call: &CallDetails, status: StatusCode, headers: &mut HeaderMap) {
    headers.insert(POLICY, HeaderValue::from_static(call.policy.name()));
    let text = |text: String| HeaderValue::try_from(text).ok();
    if let (Some((placed, _)), Some(_)) = (&call.placed, call.line()) {
        headers.extend(text(placed.session.to_string()).map(|value| (SESSION, value)));
        headers.extend(text(placed.line.to_string()).map(|value| (LINE, value)));
    }
    if let Some(material) = &call.context {
        let replaced = material.outgoing.replaced.as_ref();
        let action = match (call.shortened > 0 || call.unbound, replaced) {
            (true, _) if status.is_success() => "recovered",
            (true, _) => "failed",
            (false, Some((base, _))) => base.rewrite.made.action(),
            (false, None) => "passed",
        };
        headers.insert(ACTION, HeaderValue::from_static(action));
        if let Some(reduced) = &material.reduced {
            headers.extend(text(reduced.len().to_string()).map(|value| (REDUCED, value)));
        }
        let economy = economy_header(material).and_then(text);
        headers.extend(economy.map(|value| (ECONOMY, value)));
        if let Some((_, messages)) = replaced {
            headers.insert(REPLACED, HeaderValue::from(*messages));
            let left_out = material.outgoing.left_out(&material.body);
            headers.insert(LEFT_OUT, HeaderValue::from(left_out));
        }
        if call.waited > 0 && replaced.is_some() {
            headers.insert(WAITED, HeaderValue::from(call.waited));
        }
        if call.dialect == Dialect::Anthropic {
            headers.insert(MARKS, HeaderValue::from_static(material.marked.name()));
        }
    }
    let note = call.note.clone().and_then(text);
    headers.extend(note.map(|value| (NOTE, value)));
}

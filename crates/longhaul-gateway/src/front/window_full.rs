//! A complete, unstreamed response that ended because the window was full (O3): it is withheld, the conversation is
//! compacted, and the request is sent again, once. The withheld response is billed, so it is in the usage log too.
//!
//! A streamed response is passed on as it arrives. Its branch then counts as full, and the next request is compacted
//! before it is sent (`manage`).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::{Response, StatusCode, header};
use http_body::Body as _;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use longhaul_core::message::Usage;
use longhaul_provider::Dialect;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::after_reply::{CallReport, after_reply};
use super::call_details::CallDetails;
use super::placement;
use super::response_decision::ResponseDecision;
use crate::manage::{RequestContext, Told};
use crate::refusal::GatewayRefusal;
use crate::state::GatewayState;
use crate::store::{CallEnding, CallOrigin, CallRecord};
use crate::watch::{self, UsageTap};

/// The longest response that is read before it is passed back.
const LONGEST: usize = 64 << 20;
/// The assumed length of a response that does not state its length.
const USUAL: usize = 1 << 20;
const EXCEEDED: &str = "model_context_window_exceeded";

/// The fields of a response that are read.
#[derive(Deserialize)]
struct ResponseEnding<'a> {
    stop_reason: Option<String>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

/// Whether a response may have filled the window: it is complete, and the request is long enough for that. A token is
/// at least one byte.
pub(super) fn may_be(
    state: &GatewayState,
    call: &CallDetails,
    answer: &Response<Incoming>,
) -> bool {
    let Some(context) = &call.context else {
        return false;
    };
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let is_whole = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let most = context.size().sent as u64 + state.compactor.spec(&context.model).max_output;
    answer.status() == StatusCode::OK
        && call.dialect == Dialect::Anthropic
        && call.shortened == 0
        && is_whole
        && (state.compactor.window(&context.model)).is_some_and(|window| most >= window.size)
}

/// The length of a response, as far as it is stated.
pub(super) fn length(answer: &Response<Incoming>) -> usize {
    let told = answer.body().size_hint().exact();
    let told = told.and_then(|length| usize::try_from(length).ok());
    told.unwrap_or(USUAL).min(LONGEST)
}

/// Reads the response, and checks how it ended.
pub(super) async fn check_ending(
    state: &Arc<GatewayState>,
    call: &mut CallDetails,
    mut context: Box<RequestContext>,
    answer: Response<Incoming>,
) -> Result<ResponseDecision, GatewayRefusal> {
    let (parts, body) = answer.into_parts();
    let body = Limited::new(body, LONGEST).collect();
    let body = tokio::time::timeout(state.timeouts.upstream_idle, body).await;
    let body = body.ok().and_then(Result::ok);
    let body = body.ok_or_else(|| state.upstream.broke("its answer broke off"))?;
    let body = body.to_bytes();
    let plain = watch::plain(&parts.headers, &body).unwrap_or_default();
    let ending = serde_json::from_slice::<ResponseEnding<'_>>(&plain).ok();
    let ending = ending.filter(|ending| ending.stop_reason.as_deref() == Some(EXCEEDED));
    let used = ending.as_ref().map(|ending| {
        let usage = ending
            .usage
            .and_then(|usage| Usage::read(usage.get().as_bytes()));
        usage.map(|usage| usage.prompt())
    });
    let first = Response::from_parts(parts, body);
    let recovered = match used {
        Some(used) => {
            call.shortened = 1;
            // The prompt did fit, but it leaves too little room for the reply.
            let told = Told {
                actual: used,
                limit: None,
            };
            state.compactor.recover(&mut context, told, 0).await
        }
        None => false,
    };
    if recovered {
        call.is_resent(placement::watched(state, &context));
    }
    let sent = context.outgoing.parts.clone();
    call.context = Some(context);
    Ok(if recovered {
        write_down(state, call, &first);
        ResponseDecision::Retry(sent, first)
    } else {
        ResponseDecision::Held(first)
    })
}

/// Records the withheld response, because it was paid for.
fn write_down(state: &Arc<GatewayState>, call: &CallDetails, answer: &Response<bytes::Bytes>) {
    let Some(model) = call.model.clone() else {
        return;
    };
    let mut tap = UsageTap::new(call.dialect, answer.headers(), &state.budget);
    tap.take(answer.body());
    let took = call.began.elapsed().as_millis();
    let messages = call.placed.map_or(0, |(_, messages)| messages);
    let report = CallReport {
        call: state.calls.fetch_add(1, Ordering::Relaxed),
        line: call.placed.map(|(placed, _)| placed.line),
        record: CallRecord {
            millis: u64::try_from(took).unwrap_or(u64::MAX),
            caller: call.caller.clone(),
            began: u64::try_from(took).ok(),
            breakpoints: call.sent_breakpoints(),
            origin: CallOrigin {
                key: Some(call.of_key),
                ..CallOrigin::default()
            },
            ..CallRecord::begun(call.at, model, messages, answer.status().as_u16())
        },
        context: None,
        secrets: call.secrets.clone(),
    };
    after_reply(state, report, tap.end(CallEnding::Whole));
}

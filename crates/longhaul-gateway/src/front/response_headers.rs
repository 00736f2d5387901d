//! The headers in which a client is told what was done with its request.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use longhaul_core::economy::RecordedEconomyAction;
use longhaul_provider::Dialect;

use super::call_details::CallDetails;
use crate::manage::RequestContext;

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

/// The decision by price that changed this request or begins a summary after it (V6); `None` if there was none.
fn economy_header(context: &RequestContext) -> Option<String> {
    let decisions = [&context.cleared_by_price, &context.summary_pays];
    let record = decisions.into_iter().flatten().next()?;
    let policy = record.policy.as_str();
    let action = match record.action {
        RecordedEconomyAction::Clear => "clear",
        RecordedEconomyAction::Summarize => "summarize",
    };
    let pay_back = record
        .pay_back_requests
        .map_or(String::new(), |requests| format!("; pay-back={requests}"));
    Some(format!(
        "policy={policy}; action={action}; price-usd={:.6}; rent-usd={:.6}; tokens-freed={}{pay_back}",
        record.price_usd, record.rent_usd, record.tokens_freed
    ))
}

/// Reports in the response headers what was done.
pub(super) fn set_response_headers(
    call: &CallDetails,
    status: StatusCode,
    headers: &mut HeaderMap,
) {
    headers.insert(POLICY, HeaderValue::from_static(call.policy.name()));
    let text = |text: String| HeaderValue::try_from(text).ok();
    if let (Some((placed, _)), Some(_)) = (&call.placed, call.line()) {
        headers.extend(text(placed.session.to_string()).map(|value| (SESSION, value)));
        headers.extend(text(placed.line.to_string()).map(|value| (LINE, value)));
    }
    if let Some(context) = &call.context {
        let replaced = context.outgoing.replaced.as_ref();
        let action = match (call.shortened > 0 || call.unbound, replaced) {
            (true, _) if status.is_success() => "recovered",
            (true, _) => "failed",
            (false, Some((base, _))) => base.prefix.made.action(),
            (false, None) => "passed",
        };
        headers.insert(ACTION, HeaderValue::from_static(action));
        if let Some(reduced) = &context.reduced {
            headers.extend(text(reduced.len().to_string()).map(|value| (REDUCED, value)));
        }
        let economy = economy_header(context).and_then(text);
        headers.extend(economy.map(|value| (ECONOMY, value)));
        if let Some((_, messages)) = replaced {
            headers.insert(REPLACED, HeaderValue::from(*messages));
            let left_out = context.outgoing.left_out(&context.messages.body);
            headers.insert(LEFT_OUT, HeaderValue::from(left_out));
        }
        if call.waited > 0 && replaced.is_some() {
            headers.insert(WAITED, HeaderValue::from(call.waited));
        }
        if call.dialect == Dialect::Anthropic {
            headers.insert(MARKS, HeaderValue::from_static(context.marked.name()));
        }
    }
    let note = call.note.clone().and_then(text);
    headers.extend(note.map(|value| (NOTE, value)));
}

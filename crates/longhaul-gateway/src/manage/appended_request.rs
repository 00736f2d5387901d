//! The gateway's own questions, appended to a client's own bytes: whether that is possible, and the body that asks.

use bytes::Bytes;
use longhaul_core::history::{AppendedRequestWay, SHORTEST_ANSWER};
use longhaul_core::json::ObjectReader;

use super::request_context::RequestContext;
use super::splice::{Splices, value};

/// The value to which the client's output limit is raised if it is too small.
const RAISED: u64 = 16_000;
/// The fields for the output limit in the two APIs.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// The name, for the log, of the way in which a summary is requested.
pub(super) fn name(way: AppendedRequestWay) -> &'static str {
    match way {
        AppendedRequestWay::AsItIs => "after the client's messages",
        AppendedRequestWay::Raised => "after the client's messages, with a higher max_tokens",
        AppendedRequestWay::No(_) => "a plain request",
    }
}

/// The way in which a question can be appended to a request's own bytes: nothing in the request may force a different
/// kind of answer.
pub(super) fn way_after(context: &RequestContext) -> AppendedRequestWay {
    let body = ObjectReader::new(&context.messages.body);
    let text = |name| body.get(name).unwrap_or_default();
    let forced = match body.object("tool_choice") {
        Some(choice) => choice
            .string("type")
            .is_some_and(|kind| kind != "auto" && kind != "none"),
        None => text("tool_choice") == br#""required""#,
    };
    if forced {
        return AppendedRequestWay::No("a tool is forced");
    }
    let formatted = text("response_format").starts_with(b"{")
        || text("output_format").starts_with(b"{")
        || body.object("output_config").is_some_and(|config| {
            let format = config.get("format");
            format.is_some_and(|format| format != b"null")
        });
    if formatted {
        return AppendedRequestWay::No("the form of the answer is fixed");
    }
    let most = LIMITS.iter().find_map(|name| body.count(name));
    if most.is_none_or(|most| most >= SHORTEST_ANSWER) {
        return AppendedRequestWay::AsItIs;
    }
    // A thinking budget is part of the limit, and of the cache key.
    let thinking = body.object("thinking");
    if thinking.is_some_and(|thinking| thinking.get("budget_tokens").is_some()) {
        AppendedRequestWay::No("max_tokens is too small, and a thinking budget depends on it")
    } else {
        AppendedRequestWay::Raised
    }
}

/// The body that asks with this element after the client's bytes; `None` if that is not possible.
pub(super) fn parts_after(
    way: AppendedRequestWay,
    context: &RequestContext,
    element: &Bytes,
    longest: u64,
) -> Option<Vec<Bytes>> {
    let parts = context.outgoing.and(element)?;
    match way {
        AppendedRequestWay::AsItIs => Some(parts),
        AppendedRequestWay::Raised => {
            let body = Bytes::from(parts.concat());
            let mut splices = Splices::default();
            for name in LIMITS {
                if let Some(limit) = value(&body, 0..body.len(), name) {
                    splices.replace(limit, RAISED.min(longest).to_string());
                }
            }
            Some(vec![splices.apply(&body)])
        }
        AppendedRequestWay::No(_) => None,
    }
}

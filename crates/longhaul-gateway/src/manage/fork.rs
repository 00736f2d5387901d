//! The way in which a summary is asked for: behind the client's own bytes, where all before it is in the provider's
//! cache, or by a plain request of its own.

use bytes::Bytes;
use longhaul_core::history::{BehindWay, SHORTEST_ANSWER};
use longhaul_core::json::Object;

use super::material::Material;
use super::splice::{Splices, value};

/// What the client's limit is raised to where it is too small.
const RAISED: u64 = 16_000;
/// What both APIs call that limit.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// For the log.
pub(super) fn name(way: BehindWay) -> &'static str {
    match way {
        BehindWay::AsItIs => "behind the client's messages",
        BehindWay::Raised => "behind the client's messages, with a higher max_tokens",
        BehindWay::No(_) => "a plain request",
    }
}

/// The way for a request: nothing in it may force another kind of answer.
pub(super) fn way(material: &Material) -> BehindWay {
    let body = Object::new(&material.body);
    let text = |name| body.get(name).unwrap_or_default();
    let forced = match body.object("tool_choice") {
        Some(choice) => choice
            .string("type")
            .is_some_and(|kind| kind != "auto" && kind != "none"),
        None => text("tool_choice") == br#""required""#,
    };
    if forced {
        return BehindWay::No("a tool is forced");
    }
    let formatted = text("response_format").starts_with(b"{")
        || text("output_format").starts_with(b"{")
        || body.object("output_config").is_some_and(|config| {
            let format = config.get("format");
            format.is_some_and(|format| format != b"null")
        });
    if formatted {
        return BehindWay::No("the form of the answer is fixed");
    }
    let most = LIMITS.iter().find_map(|name| body.count(name));
    if most.is_none_or(|most| most >= SHORTEST_ANSWER) {
        return BehindWay::AsItIs;
    }
    // A budget for thinking is a part of the limit, and of the cache's key.
    let thinking = body.object("thinking");
    match thinking.is_some_and(|thinking| thinking.get("budget_tokens").is_some()) {
        true => BehindWay::No("max_tokens is too small, and a thinking budget depends on it"),
        false => BehindWay::Raised,
    }
}

/// What is sent to ask with this element; none if it cannot be asked after the client's bytes.
pub(super) fn parts(
    way: BehindWay,
    material: &Material,
    element: &Bytes,
    longest: u64,
) -> Option<Vec<Bytes>> {
    let parts = material.sending.and(element)?;
    match way {
        BehindWay::AsItIs => Some(parts),
        BehindWay::Raised => {
            let body = Bytes::from(parts.concat());
            let mut splices = Splices::default();
            for name in LIMITS {
                if let Some(limit) = value(&body, 0..body.len(), name) {
                    splices.replace(limit, RAISED.min(longest).to_string());
                }
            }
            Some(vec![splices.apply(&body)])
        }
        BehindWay::No(_) => None,
    }
}

//! Checks `thinking`: which kinds a model accepts, its budget, and what it can be combined with. The blocks themselves
//! and their signatures are checked in [`crate::thinking`].

use longhaul_core::models::{EffortLevel, ModelSpec, ThinkingType};
use serde_json::Value;

use super::turns::{ConversationProblem, RoleTurn};
use crate::call::{ApiCall, ApiError};
use crate::request::{ApiRole, MessagesRequest};

const MANUAL: &str = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking";
const INSTEAD: &str =
    r#"Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior."#;
const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";
const UPDATES: &str = "thinking-display-updates-2026-08-18";

/// Checks the parameter.
pub(super) fn check(
    request: &MessagesRequest,
    spec: &ModelSpec,
    call: &ApiCall,
) -> Result<(), ApiError> {
    let kind = match request.tag("thinking") {
        Some("enabled") => ThinkingType::Enabled,
        Some("adaptive") => ThinkingType::Adaptive,
        Some("disabled") => ThinkingType::Disabled,
        Some("between_tools") => ThinkingType::BetweenTools,
        _ => return Ok(()),
    };
    // Turning thinking off for a model that cannot think is not an error.
    let moot = kind == ThinkingType::Disabled && spec.thinking.accepts.is_empty();
    if !spec.thinking.takes(kind) && !moot {
        return Err(ApiError::invalid(refusal(kind, spec)));
    }
    if kind == ThinkingType::Disabled {
        return disabled(request, spec);
    }
    let display = request.param("thinking", "display").and_then(Value::as_str);
    if display == Some("updates") && !call.betas.contains(UPDATES) {
        let kind = request.tag("thinking").unwrap_or_default();
        return Err(ApiError::invalid(format!(
            "thinking.{kind}.display: Input should be 'summarized' or 'omitted'"
        )));
    }
    match kind {
        ThinkingType::Enabled => enabled(request, call),
        _ => Ok(()),
    }
}

fn refusal(kind: ThinkingType, spec: &ModelSpec) -> String {
    match kind {
        _ if spec.thinking.accepts.is_empty() => {
            format!("'{}' does not support thinking.", spec.id)
        }
        ThinkingType::Adaptive => "adaptive thinking is not supported on this model".into(),
        ThinkingType::Enabled => {
            format!(r#""thinking.type.enabled" is not supported for this model. {INSTEAD}"#)
        }
        ThinkingType::Disabled => {
            format!(r#""thinking.type.disabled" is not supported for this model. {INSTEAD}"#)
        }
        ThinkingType::BetweenTools => {
            r#""thinking.type.between_tools" is not supported for this model."#.into()
        }
    }
}

fn disabled(request: &MessagesRequest, spec: &ModelSpec) -> Result<(), ApiError> {
    let asked = request
        .param("output_config", "effort")
        .and_then(Value::as_str);
    let effort = match asked {
        Some("low") => EffortLevel::Low,
        Some("medium") => EffortLevel::Medium,
        Some("xhigh") => EffortLevel::Xhigh,
        Some("max") => EffortLevel::Max,
        // The default.
        _ => EffortLevel::High,
    };
    match spec.thinking.disabled_up_to {
        Some(most) if effort > most => Err(ApiError::invalid(format!(
            r#""thinking.type.disabled" is not supported for this model at effort level '{}'. {INSTEAD}"#,
            asked.unwrap_or_default()
        ))),
        _ => Ok(()),
    }
}

fn enabled(request: &MessagesRequest, call: &ApiCall) -> Result<(), ApiError> {
    let say = |what: &str| {
        Err(ApiError::invalid(format!(
            "{what} Please consult our documentation at {MANUAL}"
        )))
    };
    let budget = request
        .param("thinking", "budget_tokens")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    // With interleaved thinking the budget is for the whole turn, not for one reply.
    let across = call.betas.contains(INTERLEAVED) && !request.tools.is_empty();
    if request
        .max_tokens
        .is_some_and(|most| most <= budget && most > 0)
        && !across
    {
        return Err(ApiError::invalid(format!(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at {MANUAL}#max-tokens-and-context-window-size"
        )));
    }
    let number = |name: &str| request.fields.get(name).and_then(Value::as_f64);
    if number("temperature").is_some_and(|value| value != 1.0) {
        return say("`temperature` may only be set to 1 when thinking is enabled.");
    }
    if number("top_p").is_some_and(|value| value < 0.95) {
        return say(
            "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
        );
    }
    if request.fields.contains_key("top_k") {
        return say("`top_k` must be unset when thinking is enabled.");
    }
    match request.tag("tool_choice") {
        Some("any" | "tool") => Err(ApiError::invalid(
            "Thinking may not be enabled when tool_choice forces tool use.",
        )),
        _ => Ok(()),
    }
}

/// With a budget, the reply in progress must begin with thinking.
pub(super) fn check_turns(
    request: &MessagesRequest,
    turns: &[RoleTurn<'_>],
) -> Option<ConversationProblem> {
    if request.tag("thinking") != Some("enabled") {
        return None;
    }
    let spoken: Vec<&RoleTurn<'_>> = turns
        .iter()
        .filter(|turn| turn.role != ApiRole::System)
        .collect();
    // Go back to where the user last said something of their own.
    let own = |turn: &&RoleTurn<'_>| {
        turn.role == ApiRole::User && turn.blocks.iter().any(|p| p.block.kind != "tool_result")
    };
    let start = spoken.iter().rposition(own).map_or(0, |at| at + 1);
    let reply = spoken
        .get(start)
        .filter(|turn| turn.role == ApiRole::Assistant)?;
    let first = reply
        .blocks
        .first()
        .filter(|placed| !placed.block.is_thinking())?;
    (first.block.kind != "compaction").then(|| {
        ConversationProblem::at(
            first.message,
            format!(
                "{}.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at {MANUAL}",
                first.path(),
                first.block.kind
            ),
        )
    })
}

//! Checks `context_management` and `compaction`, and the compaction blocks that come back.

use longhaul_core::models::{ModelSpec, ThinkingType};
use serde_json::Value;

use super::turns::{ConversationProblem, RoleTurn};
use crate::call::{ApiCall, ApiError};
use crate::request::{ApiRole, MessagesRequest};

const ON_DEMAND: &str = "compact-2026-09-04";

/// Checks the order of edits, and what they require.
pub(super) fn check_edits(request: &MessagesRequest, spec: &ModelSpec) -> Result<(), ApiError> {
    let edits = request
        .param("context_management", "edits")
        .and_then(Value::as_array);
    for (index, edit) in edits.into_iter().flatten().enumerate() {
        match edit.get("type").and_then(Value::as_str) {
            Some("clear_thinking_20251015") => {
                if index > 0 {
                    return Err(ApiError::invalid(format!(
                        "context_management.edits.{index}: `clear_thinking_20251015` strategy must be the first in `edits`"
                    )));
                }
                if !thinks(request, spec) {
                    return Err(ApiError::invalid(
                        "context_management.edits.0: `clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive",
                    ));
                }
                let keep = edit.get("keep").and_then(Value::as_str);
                if keep.is_some_and(|keep| keep != "all") {
                    return Err(ApiError::invalid(
                        "context_management.edits.0.clear_thinking_20251015.keep: Input should be 'all'",
                    ));
                }
            }
            Some("compact_20260112") if signed(request).next().is_some() => {
                return Err(ApiError::invalid(format!(
                    "context_management.edits.{index}: `compact_20260112` cannot be used on a request that carries a signed `compaction` block"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the model thinks on this request. Models that take no budget think unless told not to.
fn thinks(request: &MessagesRequest, spec: &ModelSpec) -> bool {
    match request.tag("thinking") {
        Some("disabled") => false,
        Some(_) => true,
        None => !spec.thinking.takes(ThinkingType::Enabled),
    }
}

/// Checks `compaction`, and what cannot be combined with it.
pub(super) fn check_on_demand(
    request: &MessagesRequest,
    turns: &[RoleTurn<'_>],
) -> Result<(), ApiError> {
    // When counting tokens, the parameter is accepted and ignored.
    if !request.fields.contains_key("compaction") || request.max_tokens.is_none() {
        return Ok(());
    }
    let with = match () {
        () if request.fields.contains_key("context_management") => "`context_management`",
        () if request.fields.contains_key("stop_sequences") => "`stop_sequences`",
        () if matches!(request.tag("tool_choice"), Some("any" | "tool")) => {
            "`tool_choice` of type \"any\" or \"tool\""
        }
        () if request.param("output_config", "format").is_some() => "`output_config.format`",
        () if remaining(request) => "`output_config.task_budget.remaining`",
        () => return check_range(turns),
    };
    Err(ApiError::invalid(format!(
        "compaction: cannot be combined with {with}"
    )))
}

fn remaining(request: &MessagesRequest) -> bool {
    let budget = request.param("output_config", "task_budget");
    budget
        .and_then(|budget| budget.get("remaining"))
        .is_some_and(|rest| !rest.is_null())
}

fn check_range(turns: &[RoleTurn<'_>]) -> Result<(), ApiError> {
    let last = turns.iter().rfind(|turn| turn.role != ApiRole::System);
    if last.is_some_and(|turn| turn.role == ApiRole::Assistant && turn.has("tool_use")) {
        return Err(ApiError::invalid(
            "compaction: the last `assistant` message has a `tool_use` block without its `tool_result`; send the result, or leave the turn out",
        )
        .with_code("compaction_incomplete_turn"));
    }
    let said = turns
        .iter()
        .filter(|turn| turn.role != ApiRole::System)
        .flat_map(|turn| &turn.blocks);
    if said
        .into_iter()
        .any(|placed| placed.block.kind != "compaction")
    {
        Ok(())
    } else {
        Err(
            ApiError::invalid("compaction: there is nothing to summarize in `messages`")
                .with_code("compaction_nothing_to_summarize"),
        )
    }
}

/// Checks compaction blocks: a signed one must come first, and alone.
pub(super) fn check_blocks(
    request: &MessagesRequest,
    turns: &[RoleTurn<'_>],
    call: &ApiCall,
) -> Option<ConversationProblem> {
    let blocks = turns.iter().flat_map(|turn| &turn.blocks);
    for placed in blocks.filter(|placed| placed.block.kind == "compaction") {
        let path = placed.path();
        if placed.block.text("content") == Some("") {
            let what =
                format!("{path}.compaction.content: String should have at least 1 character");
            return Some(ConversationProblem::at(placed.message, what));
        }
        if placed.block.text("signature").is_none() {
            continue;
        }
        if !call.betas.contains(ON_DEMAND) {
            let what = format!("{path}.compaction.signature: Extra inputs are not permitted");
            return Some(ConversationProblem::at(placed.message, what));
        }
        if (placed.message, placed.index) != (0, 0) && signed(request).count() == 1 {
            let error = ApiError::invalid(
                "`compaction` block must be sent first, in place of the messages it summarizes; remove those messages",
            );
            return Some(ConversationProblem {
                message: placed.message,
                error: error.with_code("compaction_block_misplaced"),
            });
        }
    }
    let second = signed(request).nth(1)?;
    let error = ApiError::invalid("Only one `compaction` block may be sent; send the newest one");
    Some(ConversationProblem {
        message: second,
        error: error.with_code("compaction_block_ambiguous"),
    })
}

/// The messages that hold a signed block with content.
fn signed(request: &MessagesRequest) -> impl Iterator<Item = usize> {
    request
        .messages
        .iter()
        .enumerate()
        .flat_map(|(index, message)| {
            let blocks = message.content.iter();
            let blocks = blocks
                .filter(|block| block.kind == "compaction" && block.text("content").is_some());
            blocks
                .filter(|block| block.text("signature").is_some())
                .map(move |_| index)
        })
}

//! Checks who speaks when: the first and the last message, messages of role system, empty turns, blocks of the wrong
//! role.

use super::generation::ModelGeneration;
use super::turns::{ConversationProblem, RoleTurn};
use crate::request::{ApiRole, MessagesRequest, NEWEST_VERSION};

const DIRECTIVE: &str =
    "the directive-only form (content: [] with output_config) is accepted at any position";

/// The first problem, if any.
pub(super) fn check(
    request: &MessagesRequest,
    turns: &[RoleTurn<'_>],
    generation: ModelGeneration,
    version: &str,
) -> Option<ConversationProblem> {
    let mut found = Vec::new();
    found.extend(opening(turns, generation));
    for (index, turn) in turns.iter().enumerate() {
        let problem = match turn.role {
            ApiRole::System => system_turn(request, turns, index, generation),
            ApiRole::User if turn.blocks.is_empty() => Some(ConversationProblem::at(
                turn.first,
                format!(
                    "messages.{}: user messages must have non-empty content",
                    turn.first
                ),
            )),
            ApiRole::Assistant if turn.blocks.is_empty() && index + 1 < turns.len() => {
                Some(ConversationProblem::at(
                    turn.first,
                    format!(
                        "messages.{}: all messages must have non-empty content except for the optional final assistant message",
                        turn.first
                    ),
                ))
            }
            _ => out_of_place(turn, version),
        };
        found.extend(problem);
    }
    found.extend(ending(request, turns, generation));
    found.into_iter().min_by_key(|problem| problem.message)
}

fn opening(turns: &[RoleTurn<'_>], generation: ModelGeneration) -> Option<ConversationProblem> {
    let first = turns.first()?;
    let compacted = first
        .blocks
        .first()
        .is_some_and(|placed| placed.block.kind == "compaction");
    let spoken = first.role == ApiRole::Assistant && !first.blocks.is_empty();
    // Older models are observed to accept it, as if the conversation began with an empty user message.
    (spoken && !compacted && !generation.takes_prefill())
        .then(|| ConversationProblem::at(0, r#"messages: first message must use the "user" role"#))
}

fn system_turn(
    request: &MessagesRequest,
    turns: &[RoleTurn<'_>],
    index: usize,
    generation: ModelGeneration,
) -> Option<ConversationProblem> {
    let turn = turns.get(index)?;
    if !generation.takes_system_messages() {
        return Some(ConversationProblem::at(
            turn.first,
            "role 'system' is not supported on this model",
        ));
    }
    let said = |message: usize, what: String| {
        Some(ConversationProblem::at(
            message,
            format!("messages.{message}: {what}"),
        ))
    };
    let known = |kind: &str| matches!(kind, "text" | "tool_addition" | "tool_removal");
    if let Some(placed) = turn.blocks.iter().find(|placed| !known(&placed.block.kind)) {
        let what = "role 'system' supports text, tool_addition, and tool_removal blocks only";
        return said(placed.message, what.into());
    }
    // Messages that only carry directives may be anywhere.
    let mut spoken = turn.first..=turn.last;
    let last = spoken.rfind(|message| {
        request
            .messages
            .get(*message)
            .is_some_and(|m| !m.content.is_empty())
    })?;
    let next = turns.get(index + 1).map(|turn| turn.role);
    if index == 0 {
        let what = "use the top-level 'system' parameter for the initial system prompt";
        return said(turn.first, format!("{what}; {DIRECTIVE}"));
    }
    if next == Some(ApiRole::User) {
        let what = "role 'system' must precede an 'assistant' message or end the array";
        return said(last, format!("{what}; {DIRECTIVE}"));
    }
    let before = turns.get(index - 1)?;
    if before.role == ApiRole::Assistant
        && !before
            .blocks
            .last()
            .is_some_and(|p| is_server_result(&p.block.kind))
    {
        let what = "role 'system' must follow a 'user' message or an 'assistant' message that ends in a server tool result";
        return said(turn.first, format!("{what}; {DIRECTIVE}"));
    }
    let blank = |text: &str| text.trim().is_empty();
    let blank = turn
        .blocks
        .iter()
        .find(|placed| placed.block.text("text").is_some_and(blank))?;
    said(
        blank.message,
        "system text blocks must contain non-whitespace text".into(),
    )
}

/// Whether a block is the result of a server-side tool.
pub(super) fn is_server_result(kind: &str) -> bool {
    kind.ends_with("_tool_result")
}

/// Blocks that only the other role may send.
fn out_of_place(turn: &RoleTurn<'_>, version: &str) -> Option<ConversationProblem> {
    turn.blocks.iter().find_map(|placed| {
        let kind = placed.block.kind.as_str();
        let say = |what: String| Some(ConversationProblem::at(placed.message, what));
        match (turn.role, kind) {
            (ApiRole::User, "text") if version == NEWEST_VERSION => {
                let cited = placed.block.fields.get("citations")?.as_array()?;
                if cited.is_empty() {
                    None
                } else {
                    say(format!(
                        "{}.text.citations: Extra inputs are not permitted",
                        placed.path()
                    ))
                }
            }
            (
                ApiRole::User,
                "tool_use" | "thinking" | "redacted_thinking" | "server_tool_use" | "mcp_tool_use"
                | "fallback",
            ) => say(format!(
                "messages.{}: `{kind}` blocks can only be in `assistant` messages",
                placed.message
            )),
            (ApiRole::User, kind) if is_server_result(kind) => say(format!(
                "messages.{}: `{kind}` blocks can only be in `assistant` messages",
                placed.message
            )),
            (ApiRole::Assistant, "tool_result") => say(format!(
                "messages.{}: `tool_result` blocks can only be in `user` messages",
                placed.message
            )),
            (ApiRole::Assistant, "document") if version != NEWEST_VERSION => None,
            (ApiRole::Assistant, "image" | "document") => say(format!(
                "{}: `{kind}` blocks are not permitted within assistant turns",
                placed.path()
            )),
            (_, "tool_addition" | "tool_removal") => say(format!(
                "messages.{}: `{kind}` blocks can only be in `system` messages",
                placed.message
            )),
            _ => None,
        }
    })
}

/// A reply that is already begun: newer models refuse it unless the API itself left it unfinished.
fn ending(
    request: &MessagesRequest,
    turns: &[RoleTurn<'_>],
    generation: ModelGeneration,
) -> Option<ConversationProblem> {
    let last = turns.iter().rfind(|turn| !turn.blocks.is_empty())?;
    // Nothing is continued when tokens are counted or the conversation is summarized.
    let sampled = request.max_tokens.is_some() && !request.fields.contains_key("compaction");
    if last.role != ApiRole::Assistant || !sampled {
        return None;
    }
    let block = last.blocks.last()?.block;
    if generation.takes_prefill() {
        let text = block.text("text").unwrap_or_default();
        return (block.kind == "text"
            && text.trim_end().len() < text.len()
            && !text.trim().is_empty())
        .then(|| {
            ConversationProblem::at(
                last.last,
                "messages: final assistant content cannot end with trailing whitespace",
            )
        });
    }
    let unfinished = matches!(
        block.kind.as_str(),
        "server_tool_use" | "mcp_tool_use" | "compaction" | "fallback"
    ) || is_server_result(&block.kind)
        || request.fields.contains_key("fallback_credit_token");
    // An open tool call is reported as such.
    (!unfinished && !last.has("tool_use")).then(|| {
        ConversationProblem::at(
            last.last,
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        )
    })
}

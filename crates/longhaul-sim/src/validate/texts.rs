//! Checks that text is not empty, and not blank where the user speaks or where a reply has no other text.

use super::turns::{ConversationProblem, PlacedBlock, RoleTurn};
use crate::call::ApiError;
use crate::request::{ApiRole, MessagesRequest};

const EMPTY: &str = "text content blocks must be non-empty";
const BLANK: &str = "text content blocks must contain non-whitespace text";
const MARKED: &str = "cache_control cannot be set for empty text blocks";

/// The first problem in the messages, if any.
pub(super) fn check(turns: &[RoleTurn<'_>]) -> Option<ConversationProblem> {
    turns
        .iter()
        .filter(|turn| turn.role != ApiRole::System)
        .find_map(|turn| {
            let blank_alone = has_only_blank_texts(turn);
            turn.blocks.iter().find_map(|placed| {
                in_result(placed).or_else(|| {
                    let text = placed
                        .block
                        .text("text")
                        .filter(|_| placed.block.kind == "text")?;
                    let what = match text {
                        "" if placed.block.marker.is_some() => {
                            format!("{}.text: {MARKED}", placed.path())
                        }
                        "" => format!("messages: {EMPTY}"),
                        // A model's own reply may have a blank text next to one with content.
                        blank
                            if blank.trim().is_empty()
                                && (blank_alone || turn.role == ApiRole::User) =>
                        {
                            format!("messages: {BLANK}")
                        }
                        _ => return None,
                    };
                    Some(ConversationProblem::at(placed.message, what))
                })
            })
        })
}

/// Whether a turn has texts, and all of them are blank, whatever other blocks it has. Next to a call the API is
/// reported to refuse that, and was once recorded accepting it (Haiku 4.5): we are strict, so that nobody relies on it.
fn has_only_blank_texts(turn: &RoleTurn<'_>) -> bool {
    let texts = turn
        .blocks
        .iter()
        .filter(|placed| placed.block.kind == "text");
    let mut texts = texts.filter_map(|placed| placed.block.text("text"));
    texts.all(|text| text.trim().is_empty())
}

/// Checks text inside a tool result.
fn in_result(placed: &PlacedBlock<'_>) -> Option<ConversationProblem> {
    if placed.block.kind != "tool_result" {
        return None;
    }
    let inner = placed.block.fields.get("content")?.as_array()?;
    inner.iter().enumerate().find_map(|(index, block)| {
        block.get("text")?.as_str()?.is_empty().then(|| {
            let marked = block
                .get("cache_control")
                .is_some_and(|marker| !marker.is_null());
            let what = if marked {
                format!(
                    "{}.tool_result.content.{index}.text: {MARKED}",
                    placed.path()
                )
            } else {
                format!("messages: {EMPTY}")
            };
            ConversationProblem::at(placed.message, what)
        })
    })
}

/// Checks the system prompt.
pub(super) fn check_system(request: &MessagesRequest) -> Result<(), ApiError> {
    for (index, block) in request.system.iter().enumerate() {
        let text = block.text("text").unwrap_or_default();
        if text.is_empty() && block.marker.is_some() {
            return Err(ApiError::invalid(format!("system.{index}: {MARKED}")));
        }
        if text.is_empty() {
            return Err(ApiError::invalid(format!("system: {EMPTY}")));
        }
        if text.trim().is_empty() {
            return Err(ApiError::invalid(format!("system: {BLANK}")));
        }
    }
    Ok(())
}

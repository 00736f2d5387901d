//! `clear_tool_uses_20250919`: replaces the results of all but the newest tool uses with a placeholder.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::ClearingDecision;
use super::config::{ClearToolUses, ClearedInputs, ClearingTrigger};
use crate::prompt::BlockChange;
use crate::request::{ApiBlock, MessagesRequest};

/// The text that replaces a result. The provider's own wording is not documented.
pub(super) const PLACEHOLDER: &str = "[Tool result cleared to save context]";

/// Decides what to clear, for a prompt of this many tokens.
pub(super) fn decide(
    edit: &ClearToolUses,
    request: &MessagesRequest,
    tokens: u64,
) -> ClearingDecision {
    let uses = uses(request);
    let due = match edit.trigger {
        ClearingTrigger::InputTokens(value) => tokens > value,
        ClearingTrigger::ToolUses(value) => uses.len() > value,
    };
    let mut decided = ClearingDecision::default();
    if !due {
        return decided;
    }
    let results = results(request);
    let old = uses.len().saturating_sub(edit.keep);
    for &((message, at), use_block) in uses.iter().take(old) {
        let name = use_block.text("name").unwrap_or_default();
        let id = use_block.text("id").unwrap_or_default();
        if edit.exclude.iter().any(|excluded| excluded == name) {
            continue;
        }
        let Some(&(place, result)) = results.get(id) else {
            continue;
        };
        decided.count += 1;
        let with = |field: &str, value| rewritten(&result.fields, result, field, value);
        let cleared = with("content", Value::from(PLACEHOLDER));
        decided
            .changes
            .0
            .insert(place, BlockChange::Replace(cleared));
        let inputs = match &edit.inputs {
            ClearedInputs::Kept => false,
            ClearedInputs::Cleared => true,
            ClearedInputs::Of(tools) => tools.iter().any(|tool| tool == name),
        };
        if inputs {
            let empty = rewritten(&use_block.fields, use_block, "input", json!({}));
            decided
                .changes
                .0
                .insert((message, at), BlockChange::Replace(empty));
        }
    }
    decided
}

type PlacedToolBlock<'a> = ((usize, usize), &'a ApiBlock);

fn blocks(request: &MessagesRequest) -> impl Iterator<Item = PlacedToolBlock<'_>> {
    let messages = request.messages.iter().enumerate();
    messages.flat_map(|(index, message)| {
        let blocks = message.content.iter().enumerate();
        blocks.map(move |(at, block)| ((index, at), block))
    })
}

fn uses(request: &MessagesRequest) -> Vec<PlacedToolBlock<'_>> {
    let all = blocks(request);
    all.filter(|(_, block)| block.kind == "tool_use").collect()
}

fn results(request: &MessagesRequest) -> BTreeMap<&str, PlacedToolBlock<'_>> {
    let results = blocks(request).filter(|(_, block)| block.kind == "tool_result");
    results
        .filter_map(|(place, block)| Some((block.text("tool_use_id")?, (place, block))))
        .collect()
}

/// A block with one field changed.
pub(super) fn rewritten(
    fields: &Map<String, Value>,
    block: &ApiBlock,
    field: &str,
    value: Value,
) -> ApiBlock {
    let mut fields = fields.clone();
    fields.insert(field.to_owned(), value);
    ApiBlock {
        kind: block.kind.clone(),
        raw: Arc::from(Value::Object(fields.clone()).to_string()),
        fields,
        marker: block.marker,
    }
}

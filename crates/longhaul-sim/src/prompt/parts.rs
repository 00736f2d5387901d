//! How the parts of a request contribute to the prompt: which are in it, their token counts, and the features they turn
//! on.

use longhaul_core::xxh3::xxh3_128;
use serde_json::Value;

use super::scheme::LayoutScheme;
use super::{PromptLevel, PromptPosition};
use crate::request::{ApiBlock, ApiRole, CacheLifetime, MessagesRequest, identity};
use crate::server_tools::is_web_search;
use crate::tokens::{TokenCounter, TokenizerFamily};

/// The message and block with which the conversation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversationStart {
    /// The index of the message.
    pub message: usize,
    /// The index of the block.
    pub block: usize,
}

/// The start of a conversation: its last compaction block that holds a summary, or else its first message.
pub fn begin(request: &MessagesRequest) -> ConversationStart {
    let blocks = request.messages.iter().enumerate().rev();
    let found = blocks
        .filter(|(_, message)| message.role == ApiRole::Assistant)
        .find_map(|(index, message)| {
            let block = message.content.iter().rposition(is_summary)?;
            Some(ConversationStart {
                message: index,
                block,
            })
        });
    found.unwrap_or_default()
}

pub(super) fn is_summary(block: &ApiBlock) -> bool {
    block.kind == "compaction" && block.text("content").is_some()
}

/// Whether a compaction block with a summary is among the messages from `kept` on.
pub(super) fn contains_summary(request: &MessagesRequest, kept: usize) -> bool {
    let new = request.messages.iter().skip(kept);
    new.flat_map(|message| &message.content).any(is_summary)
}

pub(super) fn prefix_positions(
    request: &MessagesRequest,
    scheme: LayoutScheme<'_>,
    counter: &mut TokenCounter,
) -> Vec<PromptPosition> {
    let family = scheme.family();
    let mut positions = Vec::new();
    let mut searches = Vec::new();
    for (index, tool) in request
        .tools
        .iter()
        .enumerate()
        .filter(|(_, t)| !t.deferred)
    {
        let identity = identity::of_tool(tool);
        // Web search is not a tool definition in the prompt but a part of the system prompt.
        let (level, list) = if is_web_search(tool) {
            (PromptLevel::System, &mut searches)
        } else {
            (PromptLevel::Tools, &mut positions)
        };
        list.push(PromptPosition {
            level,
            place: format!("tools.{index}"),
            prefix: 0,
            tokens: counter.tool(tool, identity, family),
            marker: tool.marker,
            identity,
            end: 0,
        });
    }
    positions.append(&mut searches);
    for (index, block) in request.system.iter().enumerate() {
        let identity = identity::of_block(block);
        positions.push(PromptPosition {
            level: PromptLevel::System,
            place: format!("system.{index}"),
            prefix: 0,
            tokens: counter.block(block, identity, family),
            marker: block.marker,
            identity,
            end: 0,
        });
    }
    positions
}

/// The tokens of deferred tools that a block refers to: their definitions are added where they are discovered.
pub(super) fn discovered(
    block: &ApiBlock,
    request: &MessagesRequest,
    family: TokenizerFamily,
    counter: &mut TokenCounter,
) -> u64 {
    if !block.raw.contains("tool_reference") {
        return 0;
    }
    let mut names = Vec::new();
    if let Some(content) = block.fields.get("content") {
        referenced(content, &mut names);
    }
    let tools = names.iter().filter_map(|name| {
        let mut deferred = request.tools.iter().filter(|tool| tool.deferred);
        deferred.find(|tool| tool.name == *name)
    });
    tools
        .map(|tool| counter.tool(tool, identity::of_tool(tool), family))
        .sum()
}

pub(super) fn referenced<'a>(value: &'a Value, names: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| referenced(item, names)),
        Value::Object(fields) => {
            names.extend(fields.get("tool_name").and_then(Value::as_str));
            fields.values().for_each(|value| referenced(value, names));
        }
        _ => {}
    }
}

/// The last message with words of the user, as opposed to tool results only.
pub(super) fn newest_turn(request: &MessagesRequest) -> usize {
    let says = |block: &ApiBlock| block.kind != "tool_result";
    request
        .messages
        .iter()
        .rposition(|message| message.role == ApiRole::User && message.content.iter().any(says))
        .unwrap_or_default()
}

pub(super) fn has_image(block: &ApiBlock) -> bool {
    let parts = || block.fields.get("content").and_then(Value::as_array);
    let image = |part: &Value| part.get("type").and_then(Value::as_str) == Some("image");
    match block.kind.as_str() {
        "image" => true,
        "tool_result" => parts().is_some_and(|parts| parts.iter().any(image)),
        _ => false,
    }
}

/// The breakpoint on the last marked part of a result: it takes effect at the end of the block that contains it.
pub(super) fn inner_marker(block: &ApiBlock) -> Option<CacheLifetime> {
    let parts = block.fields.get("content").and_then(Value::as_array)?;
    let control = |part: &Value| part.get("cache_control").filter(|c| c.is_object()).cloned();
    parts
        .iter()
        .rev()
        .find_map(control)
        .map(|c| CacheLifetime::of(&c))
}

pub(super) fn asks_for_citations(block: &ApiBlock) -> bool {
    let enabled = |citations: &Value| citations.get("enabled").and_then(Value::as_bool);
    matches!(block.kind.as_str(), "document" | "search_result")
        && block.fields.get("citations").and_then(enabled) == Some(true)
}

pub(super) fn role_mask(role: ApiRole) -> u128 {
    match role {
        ApiRole::User => 0,
        ApiRole::Assistant => xxh3_128(b"assistant"),
        ApiRole::System => xxh3_128(b"system"),
    }
}

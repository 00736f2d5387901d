//! The tokens of a block or a tool: which of its parts reach the model, and the framing around them.

use serde_json::Value;

use super::{TokenizerFamily, image};
use crate::request::{ApiBlock, ApiTool};

/// The tokens around a call, besides its name and input.
const CALL: u64 = 28;
/// The tokens around each argument of a call.
const ARGUMENT: u64 = 8;
/// The tokens around a result, besides its content.
const RESULT: u64 = 16;
/// The tokens around a tool definition.
const DEFINITION: u64 = 26;
/// The tokens of a PDF page: its text and its picture.
const PAGE: u64 = 2_600;
/// The number of base64 bytes that count as a page where pages cannot be counted.
const PAGE_BYTES: usize = 60_000;
/// The number of base64 characters of encrypted content that count as one token.
const SEALED: u64 = 5;

/// Tokens of a block.
pub(super) fn block(block: &ApiBlock, family: TokenizerFamily) -> u64 {
    let text = |field| block.text(field).map_or(0, |text| family.count(text));
    match block.kind.as_str() {
        "text" => text("text"),
        "thinking" => text("thinking"),
        "redacted_thinking" => block
            .text("data")
            .map_or(0, |data| data.len() as u64 / SEALED),
        "compaction" => text("content"),
        "image" => image::tokens(block.fields.get("source"), family),
        "document" => document(&Value::Object(block.fields.clone()), family),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => call(
            block.text("name").unwrap_or_default(),
            block.fields.get("input").unwrap_or(&Value::Null),
            family,
        ),
        "tool_result" => {
            RESULT
                + block
                    .fields
                    .get("content")
                    .map_or(0, |value| content(value, family))
        }
        _ => {
            let known = ["content", "source", "title"].map(|field| block.fields.get(field));
            RESULT
                + known
                    .into_iter()
                    .flatten()
                    .map(|value| content(value, family))
                    .sum::<u64>()
        }
    }
}

/// Tokens of a call.
pub(super) fn call(name: &str, input: &Value, family: TokenizerFamily) -> u64 {
    let arguments = match input {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                ARGUMENT
                    + family.count(name)
                    + match value {
                        Value::String(text) => family.count(text),
                        other => family.count(&other.to_string()),
                    }
            })
            .sum(),
        other => family.count(&other.to_string()),
    };
    CALL + family.count(name) + arguments
}

/// Tokens of a tool definition.
pub(super) fn tool(tool: &ApiTool, family: TokenizerFamily) -> u64 {
    let field = |name: &str| match tool.fields.get(name) {
        None | Some(Value::Null) => 0,
        Some(Value::String(text)) => family.count(text),
        Some(other) => family.count(&other.to_string()),
    };
    let server = tool.kind.as_deref().map_or(0, server_tool);
    DEFINITION
        + server
        + field("name")
        + field("description")
        + field("input_schema")
        + field("input_examples")
}

/// The tokens that the provider's own tools add, as far as known.
fn server_tool(kind: &str) -> u64 {
    const KNOWN: [(&str, u64); 6] = [
        ("web_search_", 1_900),
        ("web_fetch_", 800),
        ("code_execution_", 900),
        ("computer_", 735),
        ("text_editor_", 700),
        ("bash_", 245),
    ];
    let known = KNOWN.iter().find(|(name, _)| kind.starts_with(name));
    known.map_or(0, |(_, tokens)| *tokens)
}

/// The tokens of a result's content: a string, a list of blocks, or an object of some kind.
fn content(value: &Value, family: TokenizerFamily) -> u64 {
    match value {
        Value::String(text) => family.count(text),
        Value::Array(items) => items.iter().map(|item| content(item, family)).sum(),
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            Some("image") => image::tokens(fields.get("source"), family),
            Some("document") => document(value, family),
            Some("text") => content(fields.get("text").unwrap_or(&Value::Null), family),
            _ => fields
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "type" | "cache_control"))
                .map(|(name, value)| match (name.as_str(), value) {
                    ("encrypted_content" | "encrypted_index", Value::String(sealed)) => {
                        sealed.len() as u64 / SEALED
                    }
                    _ => content(value, family),
                })
                .sum(),
        },
        Value::Null => 0,
        other => family.count(&other.to_string()),
    }
}

/// The tokens of a document: its text, or its pages.
fn document(document: &Value, family: TokenizerFamily) -> u64 {
    let source = document.get("source").unwrap_or(&Value::Null);
    let head = ["title", "context"].map(|field| document.get(field));
    let head: u64 = head
        .into_iter()
        .flatten()
        .map(|text| content(text, family))
        .sum();
    let data = source.get("data").and_then(Value::as_str);
    RESULT
        + head
        + match (source.get("type").and_then(Value::as_str), data) {
            (Some("text"), Some(text)) => family.count(text),
            (Some("base64"), Some(data)) => PAGE * (data.len().div_ceil(PAGE_BYTES)).max(1) as u64,
            (Some("content"), _) => source.get("content").map_or(0, |c| content(c, family)),
            _ => PAGE,
        }
}

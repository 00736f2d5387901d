//! The text of a content block, or a short description of a block that is not text.

use std::borrow::Cow;

use crate::json::{JsonCursor, JsonKind, ObjectReader};

/// Returns the whole text of a block.
pub(super) fn of(block: &[u8]) -> String {
    if block.first() != Some(&b'{') {
        return raw(block);
    }
    let object = ObjectReader::new(block);
    let kind = object.string("type").unwrap_or_default();
    let text = match &*kind {
        "text" => object.string("text").map(Cow::into_owned),
        "thinking" => object.string("thinking").map(|text| {
            if text.is_empty() {
                "[signed, and not shown to anybody]".to_owned()
            } else {
                text.into_owned()
            }
        }),
        "redacted_thinking" => object.get("data").map(|data| {
            let characters = data.len().saturating_sub(2);
            format!("[encrypted: {characters} characters]")
        }),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => object.get("input").map(raw),
        "image" | "document" => object.object("source").map(|source| media(&kind, source)),
        _ if kind.ends_with("tool_result") => {
            Some(object.get("content").map_or_else(String::new, inner))
        }
        _ => None,
    };
    text.unwrap_or_else(|| raw(block))
}

fn raw(json: &[u8]) -> String {
    String::from_utf8_lossy(json).into_owned()
}

/// Returns the text of a result's content, which is a string or a list of blocks.
fn inner(content: &[u8]) -> String {
    let mut cursor = JsonCursor::new(content);
    match cursor.peek() {
        Ok(JsonKind::String) => serde_json::from_slice(content).unwrap_or_else(|_| raw(content)),
        Ok(JsonKind::Array) => {
            let mut texts = Vec::new();
            // Rendered JSON is valid, so the walk ends with the array.
            let _ = cursor.array(|cursor| {
                texts.push(of(cursor.raw()?));
                Ok(())
            });
            texts.join("\n")
        }
        _ => raw(content),
    }
}

/// Describes a picture or a document.
fn media(kind: &str, source: ObjectReader<'_>) -> String {
    let named = source.string("media_type");
    let name = named.as_deref().unwrap_or(kind);
    match source.string("type").as_deref() {
        Some("text") => source.string("data").unwrap_or_default().into_owned(),
        Some("url") => format!("[{kind}: {}]", source.string("url").unwrap_or_default()),
        Some("base64") => {
            let data = source
                .get("data")
                .map_or(0, |data| data.len().saturating_sub(2));
            format!("[{name}: {data} characters of base64]")
        }
        _ => format!("[{name}]"),
    }
}

//! Counts the blocks of a message as the API has them, with the fixed model. Transcript entries (`entry.rs`) and the
//! messages of a request are counted by the same functions.

use std::borrow::Cow;

use super::prior::unframed;
use super::{CalibratedClass, TextShape, UnscaledTokens, unscaled};
use crate::json::{self, ObjectReader, items};

/// The shortest signature that can stand for thinking. Recordings may have a placeholder instead; then the text counts.
const SHORTEST_SIGNATURE: usize = 100;
/// How deep blocks inside blocks are counted one by one.
const DEEPEST: u8 = 4;

/// The tokens of a block of a message's content, as raw JSON.
pub fn block(raw: &[u8]) -> UnscaledTokens {
    block_at(raw, DEEPEST)
}

fn block_at(raw: &[u8], deeper: u8) -> UnscaledTokens {
    let object = ObjectReader::new(raw);
    match object.string("type").as_deref() {
        Some("text" | "input_text" | "output_text") => literal(
            CalibratedClass::Text,
            object.get("text").unwrap_or_default(),
        ),
        Some("image" | "image_url" | "input_image") => UnscaledTokens::IMAGE,
        Some("document" | "file") => document(object),
        Some("tool_use" | "server_tool_use") => call(
            &object.string("name").unwrap_or_default(),
            object.get("input").unwrap_or_default(),
        ),
        Some("tool_result") => result_at(object.get("content").unwrap_or_default(), deeper),
        Some("thinking") => thinking(object),
        Some("redacted_thinking") => signature(&object.string("data").unwrap_or_default()),
        _ => unscaled(CalibratedClass::Text, &decoded_shape(raw)),
    }
}

/// The tokens of a call: the tool's name and its input as raw JSON.
pub fn call(name: &str, input: &[u8]) -> UnscaledTokens {
    unscaled(
        CalibratedClass::ToolCall,
        &(TextShape::of(name) + decoded_shape(input)),
    )
}

/// The tokens of a result, by its content: a string or a list of blocks, as raw JSON.
pub fn result(content: &[u8]) -> UnscaledTokens {
    result_at(content, DEEPEST)
}

fn result_at(content: &[u8], deeper: u8) -> UnscaledTokens {
    let blocks = items(content).filter(|_| deeper > 0);
    let Some(blocks) = blocks else {
        return literal(CalibratedClass::ToolResult, content);
    };
    let frame = unscaled(CalibratedClass::ToolResult, &TextShape::default());
    let inner = blocks.into_iter().map(|raw| {
        let object = ObjectReader::new(raw);
        match object.string("type").as_deref() {
            Some("text") => {
                let shape = literal_shape(object.get("text").unwrap_or_default());
                unframed(CalibratedClass::ToolResult, &shape)
            }
            _ => block_at(raw, deeper - 1),
        }
    });
    frame + inner.sum()
}

/// The tokens of a text, by its literal as raw JSON, or of any other value as it is written.
pub fn literal(class: CalibratedClass, raw: &[u8]) -> UnscaledTokens {
    unscaled(class, &literal_shape(raw))
}

/// The tokens of a block of thinking.
pub(super) fn thinking(block: ObjectReader<'_>) -> UnscaledTokens {
    let mark = block.string("signature").unwrap_or_default();
    if mark.len() >= SHORTEST_SIGNATURE {
        return signature(&mark);
    }
    let text = block.string("thinking").unwrap_or_default();
    unscaled(CalibratedClass::Text, &TextShape::of(&text))
}

/// The tokens of a signature, which stands for the thinking.
pub(super) fn signature(signature: &str) -> UnscaledTokens {
    unscaled(CalibratedClass::Signature, &TextShape::of(signature))
}

/// A document with its text in the request is counted by that, any other by its usual size.
fn document(block: ObjectReader<'_>) -> UnscaledTokens {
    match block.object("source") {
        Some(source) if source.string("type").as_deref() == Some("text") => literal(
            CalibratedClass::Text,
            source.get("data").unwrap_or_default(),
        ),
        _ => UnscaledTokens::DOCUMENT,
    }
}

/// The shape of a string literal's text, or of any other value as it is written.
pub(super) fn literal_shape(raw: &[u8]) -> TextShape {
    match json::text(raw) {
        Some(text) => TextShape::of(&text),
        None => decoded_shape(raw),
    }
}

/// The shape of JSON whose escapes are decoded: models read and write the characters, not the escapes.
pub(super) fn decoded_shape(raw: &[u8]) -> TextShape {
    let text: Cow<'_, str> = json::decode(raw);
    TextShape::of(&text)
}

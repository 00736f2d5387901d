//! What the tools of this folder have in common: a definition made of fragments, fields of an input, texts in bounds.

use serde_json::{Value, json};

use crate::tool::ToolCallOutput;

/// Name, description and input schema, as requests carry them. The schema is a fragment of ours; a test reads it.
pub(crate) fn definition(name: &str, description: &str, schema: &str) -> Value {
    json!({
        "name": name,
        "description": description.trim_end(),
        "input_schema": serde_json::from_str::<Value>(schema).unwrap_or_default(),
    })
}

/// A text field of an input, without white space around it; empty if it is missing or no text.
pub(crate) fn text_field<'a>(input: &'a Value, name: &str) -> &'a str {
    input
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .trim()
}

/// The beginning of a text with at most so many characters; none if that is all of it.
pub(crate) fn beginning(text: &str, characters: usize) -> Option<&str> {
    // No text has more characters than bytes.
    if text.len() <= characters {
        return None;
    }
    let (end, _) = text.char_indices().nth(characters)?;
    Some(&text[..end])
}

/// Something from outside in a line of ours: on one line, and not at any length.
pub(crate) fn one_line(text: &str, characters: usize) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    let clean = |text: &str| text.replace(char::is_control, " ");
    match beginning(first, characters) {
        Some(short) => format!("{}…", clean(short)),
        None => clean(first),
    }
}

/// The output of a call that was cancelled.
pub(crate) fn stopped() -> ToolCallOutput {
    ToolCallOutput::error(include_str!("stopped.md").trim_end())
}

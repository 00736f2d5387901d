//! What the tools of this folder have in common: a definition made of fragments, fields of an input, bounded texts.

use serde_json::{Value, json};

use crate::tool::ToolCallOutput;

/// The name, description and input schema, as they appear in requests. The schema is one of our fragments; a test
/// parses it.
pub(crate) fn definition(name: &str, description: &str, schema: &str) -> Value {
    json!({
        "name": name,
        "description": description.trim_end(),
        "input_schema": serde_json::from_str::<Value>(schema).unwrap_or_default(),
    })
}

/// A text field of an input, without surrounding white space; empty if it is missing or not a text.
pub(crate) fn text_field<'a>(input: &'a Value, name: &str) -> &'a str {
    input
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .trim()
}

/// The beginning of a text with at most this many characters; `None` if the whole text fits.
pub(crate) fn beginning(text: &str, characters: usize) -> Option<&str> {
    // A text never has more characters than bytes.
    if text.len() <= characters {
        return None;
    }
    let (end, _) = text.char_indices().nth(characters)?;
    Some(&text[..end])
}

/// A text from outside, made to fit into one of our lines: on one line, and of limited length.
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
    ToolCallOutput::error(stopped_text())
}

/// What the model reads about a call that was cancelled.
pub(crate) fn stopped_text() -> String {
    include_str!("stopped.md").trim_end().to_owned()
}

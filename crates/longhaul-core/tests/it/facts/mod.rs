//! Tests the gathering of facts that a session must not lose (X1, Y4, ruling 14).

mod gathered;
mod stored;
mod whole_sessions;

use std::sync::Arc;

use longhaul_core::facts::{Facts, session_rows};
use longhaul_core::message::Entry;
use serde_json::{Value, json};

use crate::lines::{Lines, live_lines};

/// Returns the intact entries of a file, in the order of the rows of its table.
pub(crate) fn entries(bytes: &[u8]) -> Vec<Entry> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| Entry::read(line.to_vec().into()).ok())
        .collect()
}

/// Returns the facts of a file's session.
pub(crate) fn session_facts(bytes: &[u8]) -> Facts {
    let (table, conversation) = live_lines(bytes);
    let entries = entries(bytes);
    let rows = session_rows(&table, &conversation);
    Facts::scan(
        Arc::default(),
        rows.iter().map(|row| entries[*row as usize].view()),
    )
}

pub(crate) fn bytes(lines: &Lines) -> Vec<u8> {
    (lines.lines.join("\n") + "\n").into_bytes()
}

fn facts(lines: &Lines) -> Facts {
    session_facts(&bytes(lines))
}

fn texts(facts: &Facts) -> Vec<&str> {
    facts
        .messages()
        .iter()
        .map(|one| one.text.as_str())
        .collect()
}

fn blocks(lines: &mut Lines, uuid: &str, content: Value) {
    lines.add(
        uuid,
        json!({"type": "user", "message": {"role": "user", "content": content}}),
    );
}

/// Adds a call with an input, and its result.
pub(crate) fn call(
    lines: &mut Lines,
    id: &str,
    tool: &str,
    input: Value,
    answer: &str,
    failed: bool,
) {
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
    lines.reply(
        &format!("{id}-a"),
        &format!("m{id}"),
        json!([block]),
        Value::Null,
    );
    let result =
        json!([{"type": "tool_result", "tool_use_id": id, "content": answer, "is_error": failed}]);
    blocks(lines, &format!("{id}-r"), result);
}

/// Returns what the user wrote in a transcript, read with another JSON reader: the line and the text.
pub(crate) fn typed_lines(bytes: &[u8]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let Ok(entry) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        let yes = |name: &str| entry[name] == json!(true);
        if entry["type"] != "user" || yes("isMeta") || yes("isCompactSummary") || yes("isSidechain")
        {
            continue;
        }
        let text = match &entry["message"]["content"] {
            Value::String(text) => text.clone(),
            Value::Array(blocks) => {
                let texts = blocks.iter().filter(|block| block["type"] == "text");
                texts
                    .filter_map(|block| block["text"].as_str())
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            _ => continue,
        };
        let wrapper = [
            "<command-",
            "<local-command-",
            "<bash-",
            "<task-notification",
            "[Request interrupted",
            "<system-reminder",
        ];
        if !text.trim().is_empty() && !wrapper.iter().any(|begin| text.starts_with(begin)) {
            found.push((number, text));
        }
    }
    found
}

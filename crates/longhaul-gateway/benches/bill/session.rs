//! A recorded session as a client that never trims would send it: roles that alternate, every call with its result,
//! nothing that only the recording's own provider would accept.

use std::path::Path;

use jiff::Timestamp;
use longhaul_core::replay::{SessionRecording, SessionRecordingReader};
use serde_json::{Value, json};

/// A message of a transcript: its id, its role, its blocks, and when it was written.
type TranscriptMessage = (Option<String>, &'static str, Vec<Value>, Option<Timestamp>);

/// A session as its client sent it.
pub(crate) struct Session {
    pub(crate) name: String,
    /// Messages with alternating roles, and when each was written.
    pub(crate) messages: Vec<(Value, Option<Timestamp>)>,
    /// The tokens of the system prompt and the tools.
    pub(crate) prefix: u64,
}

/// Reads a session by its sizes.
pub(crate) fn recording(bytes: &[u8]) -> SessionRecording {
    let mut reader = SessionRecordingReader::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        reader.line(number, 0, line);
    }
    reader.finish(&longhaul_core::micro::ClearableTools::default())
}

/// The names of the tools that a session calls.
pub(crate) fn tools(session: &Session) -> Vec<String> {
    let blocks = session
        .messages
        .iter()
        .filter_map(|(message, _)| message["content"].as_array())
        .flatten();
    let names = blocks.filter(|block| block["type"] == "tool_use");
    let names: std::collections::BTreeSet<String> = names
        .map(|call| call["name"].as_str().unwrap().to_owned())
        .collect();
    names.into_iter().collect()
}

/// Reads a transcript as the messages of a client that never trims.
pub(crate) fn read(path: &Path) -> Session {
    let name = path.file_stem().unwrap().to_string_lossy();
    let mut all: Vec<TranscriptMessage> = Vec::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if line["isSidechain"] == true || line["isCompactSummary"] == true {
            continue;
        }
        let time = line["timestamp"]
            .as_str()
            .and_then(|time| time.parse().ok());
        let message = &line["message"];
        let blocks = blocks(&message["content"]);
        match line["type"].as_str() {
            Some("assistant") => {
                let id = message["id"].as_str().map(str::to_owned);
                let same = all.iter_mut().rev().find(|one| one.1 == "assistant");
                match same.filter(|same| same.0 == id && id.is_some()) {
                    Some(same) => same.2.extend(blocks),
                    None => all.push((id, "assistant", blocks, time)),
                }
            }
            Some("user") => match all.last_mut() {
                Some(last) if last.1 == "user" => last.2.extend(blocks),
                _ => all.push((None, "user", blocks, time)),
            },
            _ => {}
        }
    }
    Session {
        name: name.chars().take(12).collect(),
        messages: valid(all),
        prefix: recording(&std::fs::read(path).unwrap()).conversations[0].prefix,
    }
}

/// A message's content as blocks that any provider takes: no thinking, no pictures.
fn blocks(content: &Value) -> Vec<Value> {
    let plain = |block: &Value| match block["type"].as_str() {
        Some("text") => block["text"]
            .as_str()
            .is_some_and(|text| !text.trim().is_empty())
            .then(|| json!({"type": "text", "text": block["text"]})),
        Some("tool_use") => Some(
            json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": block["input"]}),
        ),
        Some("tool_result") => {
            let text = match &block["content"] {
                Value::String(text) => text.clone(),
                Value::Array(parts) => parts
                    .iter()
                    .map(|part| part["text"].as_str().unwrap_or("[a picture]"))
                    .collect::<Vec<_>>()
                    .join("\n"),
                _ => String::new(),
            };
            let text = if text.is_empty() {
                "(nothing)".to_owned()
            } else {
                text
            };
            Some(
                json!({"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": text}),
            )
        }
        Some("thinking" | "redacted_thinking") => None,
        _ => Some(json!({"type": "text", "text": "[a picture]"})),
    };
    match content {
        Value::String(text) if !text.trim().is_empty() => {
            vec![json!({"type": "text", "text": text})]
        }
        Value::Array(blocks) => blocks.iter().filter_map(plain).collect(),
        _ => Vec::new(),
    }
}

/// Makes a list that the API accepts: roles alternate, and each call has its result in the next message.
fn valid(all: Vec<TranscriptMessage>) -> Vec<(Value, Option<Timestamp>)> {
    let mut done: Vec<(&'static str, Vec<Value>, Option<Timestamp>)> = Vec::new();
    for (_, role, blocks, time) in all {
        if blocks.is_empty() {
            continue;
        }
        match done.last_mut() {
            Some(last) if last.0 == role => last.1.extend(blocks),
            _ => done.push((role, blocks, time)),
        }
    }
    if done.first().is_some_and(|first| first.0 == "assistant") {
        done.remove(0);
    }
    let mut open: Vec<Value> = Vec::new();
    for (role, blocks, _) in &mut done {
        if *role == "assistant" {
            let mut seen = std::collections::BTreeSet::new();
            blocks.retain(|block| {
                block["type"] != "tool_use" || seen.insert(block["id"].to_string())
            });
            let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
            open = calls.map(|call| call["id"].clone()).collect();
            continue;
        }
        let (mut results, rest): (Vec<Value>, Vec<Value>) = std::mem::take(blocks)
            .into_iter()
            .partition(|block| block["type"] == "tool_result");
        let mut answered = Vec::new();
        results.retain(|result| {
            let call = &result["tool_use_id"];
            let first = open.contains(call) && !answered.contains(call);
            answered.push(call.clone());
            first
        });
        for call in open.drain(..).filter(|call| !answered.contains(call)) {
            results.push(
                json!({"type": "tool_result", "tool_use_id": call, "content": "(no result)"}),
            );
        }
        results.extend(rest);
        if results.is_empty() {
            results.push(json!({"type": "text", "text": "Go on."}));
        }
        *blocks = results;
    }
    done.into_iter()
        .map(|(role, blocks, time)| (json!({"role": role, "content": blocks}), time))
        .collect()
}

//! What is in a request, and what must be on disk before it.

mod body;
mod on_disk;
mod thinking;

use bytes::Bytes;
use longhaul_core::message::Entry;
use longhaul_core::models::ThinkingBinding;
use longhaul_core::prompt::{
    NewEntryStamp, PrefixReason, PriorRendering, RenderingStart, RequestAssembly, RequestKind,
    RequestPrefix,
};
use serde_json::{Value, json};

use crate::host::text;

const MODEL: &str = "claude-opus-4-8";
const MAIN: RequestKind<'static> = RequestKind::Main;

fn birth() -> NewEntryStamp<'static> {
    NewEntryStamp {
        session_id: "s",
        uuid: "synthetic",
        parent: Some("a1"),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
    }
}

fn entry(line: &Value) -> Entry {
    Entry::read(Bytes::from(line.to_string())).unwrap()
}

fn user(uuid: &str, content: Value) -> Entry {
    entry(&json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}}))
}

fn reply(uuid: &str, content: Value) -> Entry {
    let message = json!({"id": format!("msg-{uuid}"), "model": MODEL, "role": "assistant", "content": content});
    entry(&json!({"type": "assistant", "uuid": uuid, "message": message}))
}

fn thought(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": "c2ln"})
}

fn begin(
    before: PriorRendering<'_>,
    head: RequestPrefix,
    binding: ThinkingBinding,
    history: &[Entry],
) -> RequestAssembly {
    let beginning = RenderingStart {
        before,
        head,
        reason: PrefixReason::First,
        binding,
    };
    let mut assembly = RequestAssembly::begin(beginning, history.iter().map(Entry::view));
    let entries = assembly.entries_before_request(birth()).unwrap();
    assembly.persisted(&entries).unwrap();
    assembly
}

/// A conversation of one turn, and the next question.
fn talk() -> Vec<Entry> {
    let calls: Vec<Value> = (0..3)
        .map(|n| json!({"type": "tool_use", "id": format!("t{n}"), "name": "Read", "input": {"path": "x"}}))
        .collect();
    let results: Vec<Value> = (0..3)
        .map(|n| json!({"type": "tool_result", "tool_use_id": format!("t{n}"), "content": "text of x"}))
        .collect();
    vec![
        user("u1", json!("Read x thrice.")),
        reply("a1", json!(calls)),
        user("u2", json!(results)),
        reply("a2", json!([thought("hm"), text("It is empty.", None)])),
        user("u3", json!("Thanks. And y?")),
    ]
}

fn body(assembly: &mut RequestAssembly, kind: RequestKind<'_>) -> Value {
    serde_json::from_slice(&assembly.request(kind, None).unwrap().to_vec()).unwrap()
}

fn markers(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(markers).sum(),
        Value::Object(fields) => {
            usize::from(fields.contains_key("cache_control"))
                + fields.values().map(markers).sum::<usize>()
        }
        _ => 0,
    }
}

//! What the API refuses is refused, with the same wording; similar valid requests are accepted.

mod context;
mod conversation;
mod images;
mod markers;
mod parameters;
mod reading;
mod tools;

use longhaul_sim::call::ApiCall;
use serde_json::{Value, json};

use crate::support::{OLD, body, call, refusal, taken};

const SONNET: &str = "claude-sonnet-4-6";
const HAIKU: &str = "claude-haiku-4-5";
const OPUS: &str = "claude-opus-5-5";
const FABLE: &str = "claude-fable-5-1";

fn plain() -> ApiCall {
    call(OLD, &[])
}

/// Checks that a small request with these fields is refused with these words on this model.
#[track_caller]
fn refused(model: &str, more: Value, words: &str) {
    assert_eq!(refusal(&body(model, more), &plain()), words);
}

#[track_caller]
fn admitted(model: &str, more: Value) {
    taken(&body(model, more), &plain());
}

fn tool(name: &str) -> Value {
    json!({"name": name, "input_schema": {"type": "object", "properties": {}}})
}

fn say(role: &str, content: Value) -> Value {
    json!({"role": role, "content": content})
}

fn use_of(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

fn result_of(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn talk(messages: &[Value]) -> Value {
    json!({"messages": messages, "tools": [tool("read")]})
}

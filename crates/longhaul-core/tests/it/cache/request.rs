//! Requests and usage that are made up for tests.

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::cache::{CacheBreakDetector, CacheVerdict, RequestFingerprint};
use longhaul_core::message::Usage;
use longhaul_core::models::{ModelSpec, ModelTable};
use serde_json::{Value, json};

pub(crate) const MODEL: &str = "claude-opus-5";

pub(crate) fn spec() -> std::sync::Arc<ModelSpec> {
    ModelTable::builtin().resolve(MODEL).spec
}

/// Returns a time so many seconds after a fixed time.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + seconds).unwrap()
}

/// Returns a request with two tools, two system blocks and a conversation of `rounds` rounds, the last one open.
pub(crate) fn request(rounds: usize) -> Value {
    let marker = json!({ "type": "ephemeral" });
    let mut messages = Vec::new();
    for round in 0..rounds {
        messages.push(json!({ "role": "user", "content": [{ "type": "text", "text": format!("Question {round}") }] }));
        messages.push(json!({ "role": "assistant", "content": [{ "type": "text", "text": format!("Answer {round}") }] }));
    }
    messages.push(json!({ "role": "user", "content": [
        { "type": "text", "text": format!("Question {rounds}"), "cache_control": marker },
    ] }));
    json!({
        "model": MODEL,
        "max_tokens": 1000,
        "tools": [tool("Read"), tool("Grep")],
        "system": [
            { "type": "text", "text": "You are careful.", "cache_control": marker },
            { "type": "text", "text": "Today is 2026-11-14.\nThe shell is fish.\n", "cache_control": marker },
        ],
        "messages": messages,
    })
}

pub(crate) fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "Does it.", "input_schema": { "type": "object", "properties": {} } })
}

pub(crate) fn print(source: &str, started: Timestamp, body: &Value) -> RequestFingerprint<'static> {
    RequestFingerprint::of_body(source, started, &Bytes::from(body.to_string()), []).unwrap()
}

/// Returns a usage that read and wrote so many tokens.
pub(crate) fn usage(read: u64, written: u64) -> Usage {
    Usage {
        input: 3,
        cache_read: read,
        cache_write_5m: written,
        output: 100,
        ..Usage::default()
    }
}

/// Makes one call from start to end on the source `main`.
pub(crate) fn call(
    watch: &mut CacheBreakDetector,
    seconds: i64,
    body: &Value,
    usage: &Usage,
) -> CacheVerdict {
    let id = watch.before(print("main", at(seconds), body));
    watch.after(id, usage, Some(&spec()))
}

/// Returns a detector whose conversation of two rounds read 48,210 tokens and left 50,000 in the cache.
pub(crate) fn warm() -> CacheBreakDetector {
    let mut watch = CacheBreakDetector::default();
    assert_eq!(
        call(&mut watch, 0, &request(1), &usage(0, 48_210)),
        CacheVerdict::First
    );
    assert_eq!(
        call(&mut watch, 10, &request(2), &usage(48_210, 1_790)),
        CacheVerdict::Steady
    );
    watch
}

//! Cache breakpoints: what is sent for which request (B2, B4, B5), case by case. `laws` are for all requests,
//! `sessions` are whole conversations with the simulator.

mod laws;
mod sessions;

use std::collections::HashMap;

use bytes::Bytes;
use longhaul_gateway::body;
use longhaul_gateway::branch::{BranchId, HistoryChain, RecognitionRequest, Tenant, hash_message};
use longhaul_gateway::breakpoints::{
    BreakpointChanges, BreakpointHistory, BreakpointMode, BreakpointRequest, ReplacedMessages,
    keep, manage,
};
use longhaul_provider::Dialect;
use serde_json::{Value, json};

use super::lines::{Bench, key};

/// What was sent for a body.
struct Sent {
    text: String,
    did: BreakpointChanges,
    /// Whether it is the client's body itself, not a copy.
    exact: bool,
    parts: usize,
}

impl Sent {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// The positions of breakpoints, in the order of the prompt.
    fn markers(&self) -> Vec<String> {
        markers(&self.json())
    }
}

/// A gateway's memory without the gateway.
struct Desk {
    marks: BreakpointMode,
    bench: Bench,
    trails: HashMap<BranchId, BreakpointHistory>,
}

impl Desk {
    fn new(marks: BreakpointMode) -> Self {
        Self {
            marks,
            bench: Bench::new(),
            trails: HashMap::new(),
        }
    }

    fn send(&mut self, body: &str) -> Sent {
        self.send_behind(body, None)
    }

    fn send_behind(&mut self, text: &str, replaced: Option<&ReplacedMessages>) -> Sent {
        let request = RecognitionRequest {
            tenant: Tenant(1),
            dialect: Dialect::Anthropic,
            body: text.as_bytes(),
        };
        let read = self.bench.recognizer.read(request).unwrap();
        let line = self.bench.recognizer.place(request, &read, None).line;
        let whole = body::read(text.as_bytes()).unwrap();
        let (mut ends, mut hashes, mut chain) = (Vec::new(), Vec::new(), HistoryChain::default());
        for element in &whole.elements {
            let raw = &text.as_bytes()[element.span.clone()];
            chain =
                chain.then(hash_message(&key(), Dialect::Anthropic, element.role, raw).unwrap());
            hashes.push(chain.hash);
            ends.push(u32::try_from(element.span.end).unwrap());
        }
        let body = Bytes::from(text.to_owned());
        let asked = BreakpointRequest {
            body: &body,
            outline: &read.outline,
            ends: &ends,
            raws: &read.raws,
            hashes: &hashes,
            replaced,
        };
        let (parts, did) = match self.marks {
            BreakpointMode::Keep => (keep(&asked), BreakpointChanges::default()),
            BreakpointMode::Manage => {
                let managed = manage(&asked, self.trails.get(&line));
                // The remembered history changes nothing but which elements are scanned.
                let fresh = BreakpointRequest {
                    outline: &whole,
                    ..asked
                };
                assert_eq!(managed, manage(&fresh, self.trails.get(&line)));
                self.trails.insert(line, managed.trail.unwrap());
                (managed.parts, managed.did)
            }
        };
        Sent {
            exact: matches!(&*parts, [only] if only.as_ptr() == body.as_ptr() && only.len() == body.len()),
            text: String::from_utf8(parts.concat()).unwrap(),
            parts: parts.len(),
            did,
        }
    }
}

/// The positions of breakpoints in a body, in the order of the prompt, with `1h` after those of an hour.
fn markers(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut note = |place: String, holder: &Value| {
        if holder["cache_control"].is_object() {
            let hour = holder["cache_control"]["ttl"] == "1h";
            found.push(if hour { format!("{place} 1h") } else { place });
        }
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for (at, tool) in list(&body["tools"]).iter().enumerate() {
        note(format!("tools.{at}"), tool);
    }
    for (at, block) in list(&body["system"]).iter().enumerate() {
        note(format!("system.{at}"), block);
    }
    for (at, message) in list(&body["messages"]).iter().enumerate() {
        for (nth, block) in list(&message["content"]).iter().enumerate() {
            for (inner, part) in list(&block["content"]).iter().enumerate() {
                note(format!("{at}.{nth}.{inner}"), part);
            }
            note(format!("{at}.{nth}"), block);
        }
    }
    note("automatic".to_owned(), body);
    found
}

fn marker() -> Value {
    json!({"type": "ephemeral"})
}

fn hour() -> Value {
    json!({"type": "ephemeral", "ttl": "1h"})
}

fn marked(text: &str, marker: Value) -> Value {
    json!({"type": "text", "text": text, "cache_control": marker})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn model(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn managed(body: &str) -> Sent {
    Desk::new(BreakpointMode::Manage).send(body)
}

#[test]
fn b2_one_marker_stands_behind_the_system_prompt_and_one_on_the_last_message() {
    let sent = managed(
        r#"{"model":"m", "system":"rules","messages":[{"role":"user","content":"hi"}], "x":1}"#,
    );
    assert_eq!(
        sent.text,
        r#"{"model":"m", "system":[{"type":"text","text":"rules","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}], "x":1}"#
    );
    assert_eq!(
        sent.did.to_string(),
        "cache breakpoints: 0 taken out, 2 set"
    );
}

#[test]
fn b2_without_a_system_prompt_the_last_tool_in_the_prompt_bears_the_marker() {
    let tools = json!([{"name": "a", "input_schema": {"cache_control": 1}}, {"name": "b"},
        {"name": "c", "defer_loading": true}]);
    let body = json!({"model": "m", "tools": tools, "messages": [user("hi")]});
    assert_eq!(managed(&body.to_string()).markers(), ["tools.1", "0.0"]);
    let body = json!({"model": "m", "tools": tools, "system": "", "messages": [user("hi")]});
    assert_eq!(managed(&body.to_string()).markers(), ["tools.1", "0.0"]);
    let body = json!({"model": "m", "system": [{"type": "text", "text": "s"}, {"type": "text", "text": ""}],
        "tools": tools, "messages": [user("hi")]});
    assert_eq!(managed(&body.to_string()).markers(), ["system.0", "0.0"]);
}

#[test]
fn b2_where_the_client_divided_its_head_a_marker_stays() {
    let text = |text| json!({"type": "text", "text": text});
    let body = json!({"model": "m", "tools": [{"name": "a", "cache_control": marker()}],
        "system": [text("billing"), marked("static", marker()), text("env"), marked("dynamic", marker())],
        "messages": [user(json!([marked("hi", marker())]))]});
    let sent = managed(&body.to_string());
    assert_eq!(sent.markers(), ["system.1", "system.3", "0.0"]);
    assert_eq!((sent.did.taken, sent.did.stayed), (1, 3));
}

#[test]
fn b2_a_request_that_is_marked_as_ours_would_be_keeps_its_bytes() {
    // Breakpoints as Claude Code sets them: two in the system prompt, one at the end.
    let body = r#"{"model":"m","system":[{"type":"text","text":"b"},{"type":"text","text":"s","cache_control":{"type":"ephemeral"}},
        {"cache_control": {"ttl":"5m" , "type":"ephemeral"},"type":"text","text":"d"}],
        "messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","cache_control":{"type":"ephemeral"},"text":"y"}]}]}"#;
    let sent = managed(body);
    assert!(sent.exact);
    assert_eq!(sent.did.to_string(), "cache breakpoints unchanged");
}

#[test]
fn b2_never_on_thinking_nor_on_empty_text_nor_on_what_is_put_into_the_models_mouth() {
    let thinking = json!({"type": "thinking", "thinking": "", "signature": "s"});
    for (messages, expected) in [
        (
            json!([
                user("a"),
                model(json!([thinking])),
                user(json!([{"type": "text", "text": ""}]))
            ]),
            "0.0",
        ),
        (json!([user("a"), model("{")]), "0.0"),
        (
            json!([user("a"), {"role": "system", "content": "now it is noon"}]),
            "0.0",
        ),
        (
            json!([user(
                json!([{"type": "text", "text": "a"}, {"type": "container_upload", "file_id": "f"}])
            )]),
            "0.0",
        ),
        (
            json!([
                user(""),
                user("b"),
                user(json!([{"type": "tool_result", "tool_use_id": "t"}]))
            ]),
            "2.0",
        ),
    ] {
        let body = json!({"model": "m", "messages": messages}).to_string();
        assert_eq!(managed(&body).markers(), [expected], "{body}");
    }
    let none = json!({"model": "m", "messages": [model(json!([thinking]))]}).to_string();
    assert!(managed(&none).exact);
}

#[test]
fn b2_automatic_caching_stays_or_gives_way() {
    for body in [
        r#"{"cache_control":{"type":"ephemeral","ttl":"1h"}, "model":"m","messages":[{"role":"user","content":"hi"}]}"#,
        r#"{"model":"m","cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[{"role":"user","content":"hi"}]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}], "cache_control" : {"type":"ephemeral","ttl":"1h"}}"#,
    ] {
        assert!(Desk::new(BreakpointMode::Keep).send(body).exact);
        let sent = managed(body);
        assert_eq!(sent.markers(), ["0.0 1h"]);
        let bare = sent.text.replace(
            r#"[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]"#,
            r#""hi""#,
        );
        assert_eq!(
            bare,
            r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#
        );
    }
}

#[test]
fn b5_the_longest_lifetime_the_client_asked_for_is_latched_for_the_line() {
    let mut desk = Desk::new(BreakpointMode::Manage);
    let body = |messages: Value| json!({"model": "m", "system": "s", "messages": messages});
    let first = body(json!([user(json!([
        marked("a", marker()),
        marked("b", hour())
    ]))]));
    assert_eq!(
        desk.send(&first.to_string()).markers(),
        ["system.0 1h", "0.1 1h"]
    );
    let plain = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let second = body(json!([
        user(plain),
        model("c"),
        user(json!([marked("d", marker())]))
    ]));
    assert_eq!(
        desk.send(&second.to_string()).markers(),
        ["system.0 1h", "2.0 1h"]
    );
}

#[test]
fn b2_many_calls_at_once_are_bridged() {
    let calls = |count: usize| {
        let calls = (0..count).map(
            |at| json!({"type": "tool_use", "id": format!("t{at}"), "name": "n", "input": {}}),
        );
        model(calls.collect::<Vec<_>>())
    };
    let results = |count: usize| {
        let results = (0..count).map(
            |at| json!({"type": "tool_result", "tool_use_id": format!("t{at}"), "content": "r"}),
        );
        user(results.collect::<Vec<_>>())
    };
    // A reminder, calls, and all results but the last are in between.
    for (count, bridged) in [(7, false), (8, true), (30, true)] {
        let mut desk = Desk::new(BreakpointMode::Manage);
        let mut messages = vec![user("a"), model("b"), user("c")];
        let body = |messages: &[Value]| {
            json!({"model": "m", "system": "s", "messages": messages}).to_string()
        };
        desk.send(&body(&messages));
        messages.extend([calls(count), results(count)]);
        // Reminders come and go; they take positions, but are not part of the history.
        messages.insert(3, json!({"role": "system", "content": "s"}));
        let sent = desk.send(&body(&messages));
        let last = format!("5.{}", count - 1);
        if bridged {
            assert_eq!(sent.markers(), ["system.0", "2.0", &last])
        } else {
            assert_eq!(sent.markers(), ["system.0", &last])
        }
        assert_eq!(sent.did.bridges, usize::from(bridged));
    }
}

#[test]
fn b2_what_stands_for_the_beginning_is_spliced_in_and_bears_the_marker_that_would_be_lost() {
    let body = r#"{"model":"m","messages":[{"role":"system","content":"s"}, {"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":"b"} ,{"role":"user","content":"c"}]}"#;
    let text = Bytes::from_static(
        br#"{"role":"user","content":"in short"}, {"role":"user","content":"c"}"#,
    );
    let replaced = |elements| ReplacedMessages {
        elements,
        text: text.clone(),
        marked_after: None,
    };
    let mut kept = Desk::new(BreakpointMode::Keep);
    let sent = kept.send_behind(body, Some(&replaced(1..3)));
    assert_eq!(
        sent.text,
        r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"in short"}, {"role":"user","content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]} ,{"role":"user","content":"c"}]}"#
    );
    let mut desk = Desk::new(BreakpointMode::Manage);
    let sent = desk.send_behind(body, Some(&replaced(1..3)));
    assert_eq!(sent.markers(), ["3.0"]);
    assert_eq!(sent.parts, 8);
    // None of the client's messages are left to get a breakpoint.
    let sent = Desk::new(BreakpointMode::Manage).send_behind(body, Some(&replaced(0..4)));
    assert_eq!(sent.markers(), ["1.0"]);
    assert_eq!(sent.json()["messages"].as_array().unwrap().len(), 2);
}

//! A reply as one message and as a stream: the same content in both.
use longhaul_sim::model::{DraftBlock, DraftStop, ReplyDraft};
use longhaul_sim::reply::ApiReply;
use serde_json::{Value, json};

use crate::client::*;

pub(super) fn ask(text: &str) -> Value {
    request(vec![block(text, None)])
}

pub(super) fn with_tools(mut body: Value) -> Value {
    body["tools"] = json!([{ "name": "Read", "input_schema": { "type": "object" } }]);
    body
}

pub(super) fn all_kinds() -> ReplyDraft {
    ReplyDraft {
        content: vec![
            DraftBlock::Thinking("The user wants the file, so I read it first of all.".into()),
            DraftBlock::Text("I read the file — größer als gedacht, but never mind.".into()),
            DraftBlock::ToolUse {
                name: "Read".into(),
                input: json!({ "path": "src/lib.rs" }),
            },
            DraftBlock::ToolUse {
                name: "Read".into(),
                input: json!({}),
            },
        ],
        stop: DraftStop::Natural,
    }
}

#[test]
fn a_message_has_every_field_of_the_api() {
    let mut world = world_with(|_| all_kinds());
    let reply = send(&mut world, &with_tools(ask("read it")));
    let message = &reply.message;
    assert!(message["id"].as_str().unwrap().starts_with("msg_01"));
    assert!(reply.request_id.starts_with("req_011C"));
    assert_eq!(
        (&message["type"], &message["role"]),
        (&json!("message"), &json!("assistant"))
    );
    assert_eq!(message["model"], "claude-opus-5");
    assert_eq!(message["stop_reason"], "tool_use");
    for null in ["stop_sequence", "stop_details", "container"] {
        assert!(message.get(null).is_some_and(Value::is_null), "{null}");
    }
    assert_eq!(message["content"][0]["type"], "thinking");
    let ids: Vec<&str> = (2..4)
        .map(|nth| message["content"][nth]["id"].as_str().unwrap())
        .collect();
    assert!(ids[0].starts_with("toolu_01") && ids[0] != ids[1]);
    let usage = &message["usage"];
    assert_eq!(usage["service_tier"], "standard");
    assert!(
        usage["output_tokens_details"]["thinking_tokens"]
            .as_u64()
            .unwrap()
            > 5
    );
    assert!(message.get("diagnostics").is_none() && message.get("context_management").is_none());
}

/// Reassembles a stream, as a client does.
fn joined(reply: &ApiReply) -> Value {
    let mut message = Value::Null;
    let mut partial = String::new();
    for event in reply.events() {
        assert_eq!(event.data["type"], event.name);
        let index = event.data["index"].as_u64().unwrap_or_default() as usize;
        match event.name {
            "message_start" => message = event.data["message"].clone(),
            "content_block_start" => {
                assert_eq!(message["content"].as_array().unwrap().len(), index);
                message["content"]
                    .as_array_mut()
                    .unwrap()
                    .push(event.data["content_block"].clone());
                partial.clear();
            }
            "content_block_delta" => {
                let delta = &event.data["delta"];
                let block = &mut message["content"][index];
                let mut append = |field: &str| {
                    let whole = format!(
                        "{}{}",
                        block[field].as_str().unwrap(),
                        delta[field].as_str().unwrap()
                    );
                    block[field] = json!(whole);
                };
                match delta["type"].as_str().unwrap() {
                    "text_delta" => append("text"),
                    "thinking_delta" => append("thinking"),
                    "signature_delta" => append("signature"),
                    "input_json_delta" => partial.push_str(delta["partial_json"].as_str().unwrap()),
                    other => panic!("{other}"),
                }
            }
            "content_block_stop" if message["content"][index]["type"] == "tool_use" => {
                message["content"][index]["input"] = serde_json::from_str(&partial).unwrap();
            }
            "message_delta" => {
                for source in ["delta", "usage"] {
                    for (name, value) in event.data[source].as_object().unwrap() {
                        match source {
                            "delta" => message[name] = value.clone(),
                            _ => message["usage"][name] = value.clone(),
                        }
                    }
                }
            }
            "ping" | "content_block_stop" | "message_stop" => {}
            other => panic!("{other}"),
        }
    }
    message
}

#[test]
fn a_stream_tells_the_same_message_in_the_apis_order() {
    let mut world = world_with(|_| all_kinds());
    let mut body = with_tools(ask("read it"));
    body["stream"] = json!(true);
    let reply = send(&mut world, &body);
    assert!(reply.stream);
    assert_eq!(joined(&reply), reply.message);
    let events = reply.events();
    let names: Vec<&str> = events.iter().map(|event| event.name).collect();
    assert_eq!(names[..3], ["message_start", "content_block_start", "ping"]);
    assert_eq!(
        names[names.len() - 3..],
        ["content_block_stop", "message_delta", "message_stop"]
    );
    assert_eq!(events[0].data["message"]["content"], json!([]));
    assert_eq!(events[0].data["message"]["stop_reason"], Value::Null);
    let start = &events[1].data["content_block"];
    assert_eq!(
        start,
        &json!({ "type": "thinking", "thinking": "", "signature": "" })
    );
    let deltas = |kind: &str| {
        events
            .iter()
            .filter(|e| e.data["delta"]["type"] == kind)
            .count()
    };
    assert_eq!(deltas("signature_delta"), 1);
    let call = events
        .iter()
        .position(|e| e.data["content_block"]["type"] == "tool_use")
        .unwrap();
    assert_eq!(events[call].data["content_block"]["input"], json!({}));
    assert_eq!(
        events[call + 1].data["delta"],
        json!({ "type": "input_json_delta", "partial_json": "" })
    );
    assert_eq!(
        (events[0].at, events.last().unwrap().at),
        (reply.first_byte, reply.ended)
    );
    assert!(events.windows(2).all(|pair| pair[0].at <= pair[1].at));
    let sse = reply.sse();
    assert!(sse.starts_with("event: message_start\ndata: {") && sse.ends_with("\n\n"));
}

#[test]
fn thinking_that_is_not_displayed_is_only_a_signature() {
    let mut world = world_with(|_| all_kinds());
    let mut body = with_tools(ask("read it"));
    body["thinking"] = json!({ "type": "adaptive", "display": "omitted" });
    let reply = send(&mut world, &body);
    assert_eq!(reply.message["content"][0]["thinking"], "");
    let events = reply.events();
    assert!(
        !events
            .iter()
            .any(|e| e.data["delta"]["type"] == "thinking_delta")
    );
    assert!(
        events
            .iter()
            .any(|e| e.data["delta"]["type"] == "signature_delta")
    );
}

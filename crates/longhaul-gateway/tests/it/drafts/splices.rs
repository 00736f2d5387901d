//! Removing a part leaves every other byte as it was.

use bytes::Bytes;
use longhaul_gateway::manage::{has_thinking, without_breakpoints, without_thinking};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Blocks with and without thinking and breakpoints.
fn block() -> impl Strategy<Value = Value> {
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    prop_oneof![
        Just(json!({"type": "thinking", "thinking": "a \"thinking\" one", "signature": "x"})),
        Just(json!({"type": "redacted_thinking", "data": "x"})),
        Just(json!({"type": "text", "text": "cache_control, thinking", "cache_control": mark})),
        Just(json!({"cache_control": mark, "type": "text", "text": "}, {"})),
        Just(
            json!({"type": "tool_use", "id": "a", "name": "b", "input": {"cache_control": 1, "type": "thinking"}})
        ),
        Just(
            json!({"type": "tool_result", "tool_use_id": "a", "cache_control": mark, "content": [
            {"type": "text", "text": "x", "cache_control": mark}]})
        ),
        "[a-z ]{0,9}".prop_map(|text| json!({"type": "text", "text": text})),
    ]
}

fn is_thinking(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

fn unmark(value: &mut Value) {
    if let Some(object) = value.as_object_mut() {
        object.remove("cache_control");
        if let Some(Value::Array(blocks)) = object.get_mut("content") {
            blocks.iter_mut().for_each(unmark);
        }
    }
}

proptest! {
    #[test]
    fn n2_thinking_is_taken_out_and_nothing_else(blocks in prop::collection::vec(block(), 0..7), pretty: bool) {
        let element = json!({"role": "assistant", "content": blocks, "more": {"thinking": 1}});
        let bytes: Bytes = if pretty { serde_json::to_string_pretty(&element).unwrap().into() } else { element.to_string().into() };
        let thinks = blocks.iter().any(is_thinking);
        prop_assert_eq!(has_thinking(&bytes), thinks);
        let without = without_thinking(&bytes);
        if !thinks {
            prop_assert_eq!(&without, &bytes);
        }
        let after: Value = serde_json::from_slice(&without).unwrap();
        let mut expected = element.clone();
        let rest: Vec<Value> = blocks.iter().filter(|block| !is_thinking(block)).cloned().collect();
        if thinks && rest.is_empty() {
                prop_assert_eq!(&after["content"][0]["type"], "text");
                expected["content"] = after["content"].clone();
            } else { expected["content"] = json!(rest) }
        prop_assert_eq!(&after, &expected);
        prop_assert!(!has_thinking(&without));
        prop_assert_eq!(without_thinking(&without), without);
    }

    #[test]
    fn b2_marks_are_taken_out_and_nothing_else(blocks in prop::collection::vec(block(), 0..7), pretty: bool) {
        let element = json!({"role": "user", "content": blocks, "cache_control": null});
        let bytes: Bytes = if pretty { serde_json::to_string_pretty(&element).unwrap().into() } else { element.to_string().into() };
        let after: Value = serde_json::from_slice(&without_breakpoints(&bytes)).unwrap();
        let mut expected = element;
        unmark(&mut expected);
        prop_assert_eq!(after, expected);
    }
}

#[test]
fn n2_other_bytes_stay_to_the_letter() {
    let element = Bytes::from_static(
        br#"{ "content" : [ {"type":"thinking","thinking":"a","signature":"b"} , {"text":"\u0041","type":"text"},{"type":"redacted_thinking","data":"c"} ], "role":"assistant" }"#,
    );
    assert_eq!(
        without_thinking(&element),
        br#"{ "content" : [ {"text":"\u0041","type":"text"} ], "role":"assistant" }"#[..]
    );
    let user = Bytes::from_static(br#"{"role":"user","content":[{"type":"thinking"}]}"#);
    assert_eq!(without_thinking(&user), user);
    let marked = Bytes::from_static(
        br#"{"role":"user","content":[{ "cache_control":{"type":"ephemeral"} , "type":"text","text":"a"},{"type":"text", "text":"b" ,"cache_control":{}}]}"#,
    );
    assert_eq!(
        without_breakpoints(&marked),
        br#"{"role":"user","content":[{ "type":"text","text":"a"},{"type":"text", "text":"b"}]}"#[..]
    );
}

#[test]
fn n2_damaged_elements_stay_as_they_are() {
    for bytes in [
        &b"{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\""[..],
        b"thinking cache_control",
        b"",
    ] {
        let bytes = Bytes::from_static(bytes);
        assert_eq!(without_thinking(&bytes), bytes);
        assert_eq!(without_breakpoints(&bytes), bytes);
    }
}

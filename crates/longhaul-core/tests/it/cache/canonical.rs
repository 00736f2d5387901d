//! Tests that the same conversation is recognized as the same, whatever its bytes (N7).

use longhaul_core::cache::canonical::{block, conversation, message, tool};
use proptest::prelude::*;
use serde_json::{Value, json};

fn last(messages: &Value) -> u128 {
    let rolling = conversation(messages.to_string().as_bytes()).unwrap();
    rolling.last().unwrap().value()
}

#[test]
fn n7_a_string_is_one_text_block_and_markers_do_not_count() {
    let plain = json!([{ "role": "user", "content": "Hello" }]);
    let list = json!([{ "role": "user", "content": [
        { "type": "text", "text": "Hello", "cache_control": { "type": "ephemeral", "ttl": "1h" } },
    ] }]);
    assert_eq!(last(&plain), last(&list));
    let other = json!([{ "role": "assistant", "content": "Hello" }]);
    assert_ne!(last(&plain), last(&other));
}

#[test]
fn n7_system_messages_inside_are_left_out_of_a_conversations_hash() {
    let with = json!([
        { "role": "user", "content": "Hello" },
        { "role": "system", "content": "Mind the style guide." },
        { "role": "assistant", "content": "Hi" },
    ]);
    let mut without = with.clone();
    without.as_array_mut().unwrap().remove(1);
    assert_eq!(last(&with), last(&without));
    let prefixes = conversation(without.to_string().as_bytes()).unwrap();
    assert_eq!(prefixes.len(), 2);
    assert_ne!(prefixes[0], prefixes[1]);
}

#[test]
fn n7_a_result_is_the_same_as_string_and_as_list() {
    let string = br#"{"type":"tool_result","tool_use_id":"a","content":"x\n","is_error":false}"#;
    let list = br#"{ "content": [{"text":"x\u000a","type":"text"}], "tool_use_id": "a", "type": "tool_result" }"#;
    assert_eq!(block(string), block(list));
}

#[test]
fn n7_the_order_of_keys_counts_in_what_is_the_clients_own() {
    let ab = br#"{"type":"tool_use","id":"t","name":"n","input":{"a":1,"b":"x y"}}"#;
    let ba = br#"{"type":"tool_use","id":"t","name":"n","input":{"b":"x y","a":1}}"#;
    let spaced = br#"{"name":"n","type":"tool_use","id":"t","input":{ "a" : 1, "b": "x y" }}"#;
    assert_ne!(block(ab), block(ba));
    assert_eq!(block(ab), block(spaced));
    let schema = br#"{"name":"n","input_schema":{"type":"object","properties":{}}}"#;
    let turned = br#"{"name":"n","input_schema":{"properties":{},"type":"object"}}"#;
    assert_ne!(tool(schema), tool(turned));
    let deferred = br#"{"type":"custom","name":"n","defer_loading":true,"strict":false,"input_schema":{"type":"object","properties":{}}}"#;
    assert_eq!(tool(schema), tool(deferred));
}

#[test]
fn n7_white_space_counts_inside_strings_only() {
    let one = message(br#"{"role":"user","content":"a  b"}"#).unwrap();
    assert_eq!(
        one,
        message(b"{ \"role\" :\n\"user\" , \"content\" : \"a  b\" }").unwrap()
    );
    assert_ne!(one, message(br#"{"role":"user","content":"a b"}"#).unwrap());
}

#[test]
fn n7_hostile_depth_costs_no_stack() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let text =
        format!(r#"{{"role":"user","content":[{{"type":"x","input":{deep},"other":{deep}}}]}}"#);
    assert!(message(text.as_bytes()).is_ok());
}

/// Returns a conversation of texts, and how each is written: as a string or a list, with a breakpoint or not.
fn spoken() -> impl Strategy<Value = Vec<(String, bool, bool)>> {
    proptest::collection::vec((".{0,12}", any::<bool>(), any::<bool>()), 1..8)
}

fn written(spoken: &[(String, bool, bool)], plain: bool) -> Value {
    let messages = spoken
        .iter()
        .enumerate()
        .map(|(nth, (text, list, marked))| {
            let role = ["user", "assistant"][nth % 2];
            let mut block = json!({ "type": "text", "text": text });
            if *marked {
                block["cache_control"] = json!({ "type": "ephemeral" });
            }
            if plain || !*list {
                json!({ "role": role, "content": text })
            } else {
                json!({ "role": role, "content": [block] })
            }
        });
    messages.collect()
}

proptest! {
    #[test]
    fn n7_however_it_is_written_it_is_the_same_and_an_edit_is_not(spoken in spoken(), at in any::<prop::sample::Index>()) {
        prop_assert_eq!(last(&written(&spoken, true)), last(&written(&spoken, false)));
        let mut edited = spoken.clone();
        let at = at.index(edited.len());
        edited[at].0.push('!');
        prop_assert_ne!(last(&written(&spoken, true)), last(&written(&edited, false)));
    }
}

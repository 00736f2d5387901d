//! Every input gets a well-formed verdict.

use longhaul_sim::request::{Endpoint, MessagesRequest, identity};
use longhaul_sim::thinking::{AccountAge, SigningSecret, check};
use longhaul_sim::threads::{ThreadPolicy, Threads};
use longhaul_sim::validate::validate;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{BETAS, NEW, OLD, call, spec};

/// The property of the fuzz target: no panic, and a verdict in the API's envelope.
fn verdict(bytes: &[u8]) {
    for (version, betas) in [(OLD, &BETAS[..]), (NEW, &[])] {
        for endpoint in [Endpoint::Messages, Endpoint::CountTokens] {
            let call = call(version, betas);
            let read = MessagesRequest::read(bytes, endpoint, &call.betas, version);
            let whole =
                read.and_then(|request| Threads::new(ThreadPolicy::Hold).begin(request, &call));
            let done = whole.and_then(|(request, _)| {
                let spec = spec(&request.model);
                validate(&request, &spec, &call)?;
                for block in request.messages.iter().flat_map(|message| &message.content) {
                    assert_eq!(
                        identity::of_block(block),
                        identity::of_block(&block.clone())
                    );
                    assert!(serde_json::from_str::<Value>(&block.raw).is_ok());
                }
                check(
                    &request,
                    &spec,
                    &call,
                    &SigningSecret::from_seed(1),
                    AccountAge::New,
                )
                .map(|_| ())
            });
            if let Err(error) = done {
                assert!([400, 404, 413].contains(&error.status), "{error:?}");
                assert!(!error.message.is_empty());
                let envelope = error.envelope("req_1");
                assert_eq!(envelope["type"], "error");
                assert!(envelope["error"]["message"].is_string());
            }
        }
    }
}

/// Any JSON, made of words that the API knows, so that it gets past the first checks.
fn anything() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "user",
        "assistant",
        "system",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "compaction",
        "image",
        "base64",
        "ephemeral",
        "1h",
        "5m",
        "t1",
        "srvtoolu_1",
        "claude-opus-5-5",
        "claude-haiku-4-5",
        "",
        " ",
        "all",
        "enabled",
        "adaptive",
        "any",
        "tool",
        "auto",
        "continue",
        "create",
        "clear_thinking_20251015",
        "compact_20260112",
    ]);
    let keys = prop::sample::select(vec![
        "type",
        "role",
        "content",
        "text",
        "id",
        "name",
        "input",
        "tool_use_id",
        "cache_control",
        "ttl",
        "thinking",
        "signature",
        "source",
        "data",
        "media_type",
        "messages",
        "model",
        "max_tokens",
        "system",
        "tools",
        "input_schema",
        "tool_choice",
        "stream",
        "thread",
        "previous_message_id",
        "context_management",
        "edits",
        "trigger",
        "value",
        "keep",
        "compaction",
        "output_config",
        "budget_tokens",
        "citations",
        "zzz",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        words.prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(keys.clone().prop_map(str::to_owned), inner, 0..7)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A request with a bit of everything in it.
fn rich() -> Value {
    json!({
        "model": "claude-opus-5-5",
        "max_tokens": 1000,
        "stream": true,
        "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "tools": [
            {"name": "read", "input_schema": {"type": "object"}},
            {"name": "later", "defer_loading": true, "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "low"},
        "messages": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                {"type": "text", "text": "b"},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"k": [1, {"z": null}]}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [
                    {"type": "text", "text": "r"},
                    {"type": "tool_reference", "tool_name": "later"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ]},
                {"type": "text", "text": "c", "cache_control": {"type": "ephemeral"}},
            ]},
            {"role": "system", "content": "d"},
        ],
    })
}

/// Every path in a value.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, inner)| places(inner, &format!("{path}/{name}"), found)),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, inner)| places(inner, &format!("{path}/{index}"), found));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn any_json_gets_a_verdict(value in anything()) {
        verdict(value.to_string().as_bytes());
    }

    #[test]
    fn any_bytes_get_a_verdict(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        verdict(&bytes);
    }

    #[test]
    fn a_valid_request_with_one_place_changed_gets_a_verdict(at in any::<prop::sample::Index>(), with in anything()) {
        let mut body = rich();
        let mut found = Vec::new();
        places(&body, "", &mut found);
        *body.pointer_mut(&found[at.index(found.len())]).unwrap() = with;
        verdict(body.to_string().as_bytes());
    }

    #[test]
    fn a_valid_request_with_a_piece_cut_out_gets_a_verdict(from in any::<prop::sample::Index>(), length in 1_usize..40) {
        let mut bytes = rich().to_string().into_bytes();
        let from = from.index(bytes.len());
        let to = (from + length).min(bytes.len());
        bytes.drain(from..to);
        verdict(&bytes);
    }

    #[test]
    fn any_messages_and_tools_get_a_verdict(messages in anything(), tools in anything()) {
        let body = json!({"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [
            {"role": "user", "content": "a"}, {"role": "assistant", "content": messages},
        ], "tools": tools});
        verdict(body.to_string().as_bytes());
    }
}

#[test]
fn the_request_that_is_changed_is_valid() {
    let call = call(OLD, &BETAS);
    let request = MessagesRequest::read(
        rich().to_string().as_bytes(),
        Endpoint::Messages,
        &call.betas,
        OLD,
    )
    .unwrap();
    validate(&request, &spec(&request.model), &call).unwrap();
}

//! A summary ends within `max_tokens`, whatever the language of the conversation and the tokenizer.

use std::collections::BTreeSet;

use longhaul_sim::call::ApiCall;
use longhaul_sim::model::SimModel;
use longhaul_sim::world::{World, WorldOptions};
use serde_json::{Value, json};

/// A model with the tokenizer that makes more tokens of the same text.
const NEWER: &str = "claude-opus-5-5";
const ASK: &str = "Do not call any tools. Put a summary of the conversation into <summary> tags, in these sections:
1. Primary request and intent
2. Files and code
3. Errors and fixes
4. All user messages
5. Current work
6. Next step";

/// Meaningless text that hardly compresses.
fn base64(seed: usize, length: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = seed as u64 + 1;
    let letters = (0..length).map(|_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[(state >> 58) as usize])
    });
    letters.collect()
}

fn said(language: &str, turn: usize) -> String {
    match language {
        "Chinese" => format!(
            "第{turn}步：{}",
            "请检查港口办公室的账簿，核对每一艘船的泊位，然后写下你发现的问题。".repeat(12)
        ),
        "base64" => format!("Decode part {turn}: {}", base64(turn, 1_200)),
        _ => format!(
            "Step {turn}: {}",
            "check the books of the harbour office, compare the berth of each ship, and write down what you find. "
                .repeat(12)
        ),
    }
}

fn asked(language: &str, max_tokens: u64) -> Value {
    let mut messages = Vec::new();
    for turn in 0..60 {
        messages.push(json!({ "role": "user", "content": said(language, turn) }));
        messages.push(json!({ "role": "assistant", "content": said(language, turn + 100) }));
    }
    messages.push(json!({ "role": "user", "content": ASK }));
    let body = json!({ "model": NEWER, "max_tokens": max_tokens, "messages": messages });
    let call = ApiCall {
        key: "key".into(),
        version: "2023-06-01".into(),
        betas: BTreeSet::new(),
        body: body.to_string().into(),
        ..ApiCall::default()
    };
    let model = SimModel::new(longhaul_sim::model::SimModelOptions::default());
    let mut world = World::new(WorldOptions::new(1, Box::new(model)));
    let reply = world.exchange(&call);
    let reply = reply.unwrap_or_else(|error| panic!("{} {}", error.status, error.message));
    reply.message
}

#[test]
fn a_summary_ends_within_max_tokens_in_any_language() {
    for language in ["English", "Chinese", "base64"] {
        for tokens in [700, 2_000, 4_000, 8_000] {
            let message = asked(language, tokens);
            let used = message["usage"]["output_tokens"].as_u64().unwrap();
            assert_eq!(
                message["stop_reason"], "end_turn",
                "{language}, {used} of {tokens}"
            );
            let text = message["content"][0]["text"].as_str().unwrap();
            assert!(text.ends_with("</summary>"), "{language}, {tokens}");
            // At least half of the room is used.
            assert!(used * 2 > tokens, "{language}, {used} of {tokens}");
        }
    }
}

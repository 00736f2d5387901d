//! Server-side context management: clearing, compaction in both forms, cache edits.

use longhaul_sim::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft};
use longhaul_sim::world::World;
use serde_json::{Value, json};

use crate::client::*;

const MANAGE: &str = "context-management-2025-06-27";

/// A conversation with this many tool calls, each with a result of about 400 tokens.
pub(super) fn working(calls: usize) -> Value {
    let mut messages = vec![json!({ "role": "user", "content": "Make the tests pass." })];
    for nth in 0..calls {
        let (id, name) = (format!("toolu_{nth}"), ["Read", "Edit"][nth % 2]);
        messages.push(json!({ "role": "assistant", "content": [
            { "type": "tool_use", "id": id, "name": name, "input": { "path": format!("src/{nth}.rs") } },
        ] }));
        messages.push(json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": id, "content": words(400) },
        ] }));
    }
    let tool = |name: &str| json!({ "name": name, "input_schema": { "type": "object" } });
    json!({
        "model": "claude-opus-5", "max_tokens": 1_000,
        "tools": [tool("Read"), tool("Edit")],
        "messages": messages,
    })
}

pub(super) fn with_edits(mut body: Value, edits: Value) -> Value {
    body["context_management"] = json!({ "edits": edits });
    body
}

/// A world that records what its model was shown.
pub(super) fn watching() -> (World, std::sync::Arc<std::sync::Mutex<Vec<String>>>) {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let notes = std::sync::Arc::clone(&seen);
    let world = world_with(move |turn: &ModelTurn<'_>| {
        let blocks = turn.request.messages.iter().flat_map(|m| &m.content);
        let raws: Vec<&str> = blocks.map(|block| &*block.raw).collect();
        notes.lock().unwrap().push(raws.join("\n"));
        if raws.last().is_some_and(|last| last.contains("<summary>")) {
            text("<summary>Two files were read.</summary>")
        } else {
            text("Done.")
        }
    });
    (world, seen)
}

#[test]
fn u7_old_tool_results_are_cleared_above_the_trigger_and_the_newest_kept() {
    let (mut world, seen) = watching();
    let edit = json!([{ "type": "clear_tool_uses_20250919", "trigger": { "type": "input_tokens", "value": 3_000 } }]);
    let few = world
        .exchange(&call_with(&with_edits(working(4), edit.clone()), &[MANAGE]))
        .unwrap();
    assert_eq!(
        few.message["context_management"],
        json!({ "applied_edits": [] })
    );
    let body = with_edits(working(10), edit);
    let many = world.exchange(&call_with(&body, &[MANAGE])).unwrap();
    let applied = &many.message["context_management"]["applied_edits"][0];
    assert_eq!(applied["type"], "clear_tool_uses_20250919");
    assert_eq!(applied["cleared_tool_uses"], 7);
    let cleared = applied["cleared_input_tokens"].as_u64().unwrap();
    assert!((2_500..4_500).contains(&cleared), "{cleared}");
    let shown = seen.lock().unwrap().pop().unwrap();
    assert_eq!(shown.matches("cleared").count(), 7);
    assert!(shown.contains("river"));
    let counted = world
        .count_tokens(&call_with(&without_max(&body), &[MANAGE]))
        .unwrap();
    let before = counted["context_management"]["original_input_tokens"]
        .as_u64()
        .unwrap();
    assert_eq!(counted["input_tokens"].as_u64(), Some(prompt(&many)));
    assert_eq!(before - prompt(&many), cleared);
}

#[test]
fn u7_every_parameter_of_clearing_does_what_it_says() {
    let trigger = json!({ "type": "tool_uses", "value": 5 });
    let cases = [
        (json!({}), 7, 0),
        (json!({ "keep": { "type": "tool_uses", "value": 8 } }), 2, 0),
        (
            json!({ "keep": { "type": "tool_uses", "value": 0 } }),
            10,
            0,
        ),
        (json!({ "exclude_tools": ["Read"] }), 3, 0),
        (json!({ "clear_tool_inputs": true }), 7, 7),
        (json!({ "clear_tool_inputs": ["Edit"] }), 7, 3),
        (
            json!({ "clear_at_least": { "type": "input_tokens", "value": 1_000 } }),
            7,
            0,
        ),
        (
            json!({ "clear_at_least": { "type": "input_tokens", "value": 90_000 } }),
            0,
            0,
        ),
        (
            json!({ "trigger": { "type": "tool_uses", "value": 10 } }),
            0,
            0,
        ),
    ];
    for (settings, results, inputs) in cases {
        let (mut world, seen) = watching();
        let mut edit = json!({ "type": "clear_tool_uses_20250919", "trigger": trigger });
        edit.as_object_mut()
            .unwrap()
            .extend(settings.as_object().unwrap().clone());
        let body = with_edits(working(10), json!([edit]));
        let reply = world.exchange(&call_with(&body, &[MANAGE])).unwrap();
        let applied =
            reply.message["context_management"]["applied_edits"][0]["cleared_tool_uses"].as_u64();
        assert_eq!(applied.unwrap_or_default(), results, "{edit}");
        let shown = seen.lock().unwrap().pop().unwrap();
        assert_eq!(shown.matches("cleared").count() as u64, results, "{edit}");
        assert_eq!(shown.matches("\"input\":{}").count(), inputs, "{edit}");
    }
}

#[test]
fn u7_clearing_breaks_the_cache_where_it_clears() {
    let (mut world, _) = watching();
    let edits = json!([{ "type": "clear_tool_uses_20250919", "trigger": { "type": "tool_uses", "value": 5 } }]);
    let send = |world: &mut World, calls: usize| {
        let mut body = with_edits(working(calls), edits.clone());
        body["cache_control"] = marker();
        classes(&world.exchange(&call_with(&body, &[MANAGE])).unwrap())
    };
    send(&mut world, 5);
    let [read, ..] = send(&mut world, 6);
    assert_eq!(read, 0, "three results were cleared at the start");
    let [read, ..] = send(&mut world, 6);
    assert!(read > 1_000);
}

#[test]
fn u7_the_thinking_of_old_turns_is_cleared() {
    let mut world = world_with(|_| ReplyDraft {
        content: vec![
            DraftBlock::Thinking(words(300)),
            DraftBlock::Text("So.".into()),
        ],
        stop: DraftStop::Natural,
    });
    let mut body = json!({
        "model": "claude-opus-4-6", "max_tokens": 4_000, "messages": [],
        "thinking": { "type": "adaptive" },
    });
    for nth in 0..4 {
        let question = json!({ "role": "user", "content": format!("question {nth}") });
        body["messages"].as_array_mut().unwrap().push(question);
        let reply = world.exchange(&call_with(&body, &[MANAGE])).unwrap();
        let answer = json!({ "role": "assistant", "content": reply.message["content"] });
        body["messages"].as_array_mut().unwrap().push(answer);
    }
    let last = json!({ "role": "user", "content": "and now?" });
    body["messages"].as_array_mut().unwrap().push(last);
    for (keep, turns) in [
        (json!("all"), None),
        (json!({ "type": "all" }), None),
        (json!({ "type": "thinking_turns", "value": 1 }), Some(3)),
        (json!({ "type": "thinking_turns", "value": 9 }), None),
    ] {
        let edits = json!([{ "type": "clear_thinking_20251015", "keep": keep }]);
        let body = with_edits(body.clone(), edits);
        let reply = world.exchange(&call_with(&body, &[MANAGE])).unwrap();
        let applied = &reply.message["context_management"]["applied_edits"][0];
        assert_eq!(applied["cleared_thinking_turns"].as_u64(), turns);
        let tokens = applied["cleared_input_tokens"].as_u64();
        assert_eq!(tokens.map(|tokens| tokens > 800), turns.map(|_| true));
        assert_eq!(prompt(&reply) < 500, turns.is_some());
    }
}

#[test]
fn n4_cache_edits_take_results_out_of_the_cached_prefix_without_breaking_it() {
    let beta = longhaul_sim::manage::cache_edits::BETA;
    let (mut world, seen) = watching();
    let mut body = working(6);
    body["cache_control"] = marker();
    let first = world.exchange(&call_with(&body, &[beta])).unwrap();
    assert!(
        first
            .headers
            .contains(&("longhaul-capabilities", "cache-edits".to_owned()))
    );
    let written = classes(&first)[1];
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({ "role": "assistant", "content": "Half done." }));
    messages.push(json!({ "role": "user", "content": "Go on." }));
    body["cache_edits"] = json!([
        { "type": "delete", "tool_use_id": "toolu_0" },
        { "type": "delete", "tool_use_id": "toolu_1" },
        { "type": "delete", "tool_use_id": "toolu_x" },
    ]);
    let second = world.exchange(&call_with(&body, &[beta])).unwrap();
    let deleted = second.message["usage"]["cache_deleted_input_tokens"]
        .as_u64()
        .unwrap();
    assert!(deleted > 800, "{deleted}");
    assert_eq!(
        classes(&second)[0],
        written - deleted,
        "the rest of the prefix is still read"
    );
    let status: Vec<&str> = second.message["cache_edits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["status"].as_str().unwrap())
        .collect();
    assert_eq!(status, ["deleted", "deleted", "not_found"]);
    assert_eq!(
        seen.lock()
            .unwrap()
            .pop()
            .unwrap()
            .matches("cleared")
            .count(),
        2
    );
    world.evict();
    let third = world.exchange(&call_with(&body, &[beta])).unwrap();
    assert_eq!(third.message["cache_edits"][0]["status"], "not_cached");
    assert_eq!(third.message["usage"]["cache_deleted_input_tokens"], 0);
    assert_eq!(refused(&mut world, &call(&body)).status, 400);
}

#[test]
fn b3_results_may_carry_a_cache_reference_with_the_beta_of_the_edits_only() {
    let beta = longhaul_sim::manage::cache_edits::BETA;
    let mut body = working(2);
    for message in body["messages"].as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().into_iter().flatten() {
            if let Some(id) = block.get("tool_use_id").cloned() {
                block["cache_reference"] = id;
            }
        }
    }
    let (mut world, _) = watching();
    assert!(world.exchange(&call_with(&body, &[beta])).is_ok());
    let error = refused(&mut world, &call(&body));
    assert!(
        error
            .message
            .ends_with("tool_result.cache_reference: Extra inputs are not permitted"),
        "{}",
        error.message
    );
}

pub(super) fn without_max(body: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().remove("max_tokens");
    body
}

//! Server-side context management: clearing, compaction in both forms, cache edits.

use longhaul_sim::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft};
use longhaul_sim::world::World;
use serde_json::{Value, json};

use crate::client::*;

const MANAGE: &str = "context-management-2025-06-27";
const THRESHOLD: &str = "compact-2026-01-12";
const ON_DEMAND: &str = "compact-2026-09-04";

/// A conversation with this many tool calls, each with a result of about 400 tokens.
fn working(calls: usize) -> Value {
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

fn with_edits(mut body: Value, edits: Value) -> Value {
    body["context_management"] = json!({ "edits": edits });
    body
}

/// A world that records what its model was shown.
fn watching() -> (World, std::sync::Arc<std::sync::Mutex<Vec<String>>>) {
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
fn n3_a_prompt_past_the_threshold_is_summarized_first_and_both_steps_are_billed() {
    let (mut world, seen) = watching();
    let edits = json!([{ "type": "compact_20260112", "trigger": { "type": "input_tokens", "value": 50_000 } }]);
    let small = with_edits(working(10), edits.clone());
    let reply = world.exchange(&call_with(&small, &[THRESHOLD])).unwrap();
    assert_eq!(reply.message["content"][0]["type"], "text");
    assert_eq!(
        reply.message["usage"]["iterations"]
            .as_array()
            .unwrap()
            .len(),
        1
    );

    let large = with_edits(working(150), edits.clone());
    let reply = world.exchange(&call_with(&large, &[THRESHOLD])).unwrap();
    let content = &reply.message["content"];
    assert_eq!(content[0]["type"], "compaction");
    assert_eq!(content[0]["content"], "Two files were read.");
    assert_eq!(content[1], json!({ "type": "text", "text": "Done." }));
    assert_eq!(
        reply.message["context_management"],
        json!({ "applied_edits": [] })
    );
    let steps = reply.message["usage"]["iterations"].as_array().unwrap();
    assert_eq!(
        (&steps[0]["type"], &steps[1]["type"]),
        (&json!("compaction"), &json!("message"))
    );
    assert!(steps[0]["input_tokens"].as_u64().unwrap() > 60_000);
    assert_eq!(
        reply.message["usage"]["input_tokens"],
        steps[1]["input_tokens"]
    );
    assert!(reply.usage.context() < 2_000);
    assert!(reply.cost > world.usage_log().recent[0].tokens.cost_usd.into());
    let shown = seen.lock().unwrap().pop().unwrap();
    assert!(
        shown.contains("Two files were read.") && !shown.contains("tool_result"),
        "{shown}"
    );

    // The block is sent back after the messages that it replaces, which are then left out.
    let mut next = large.clone();
    let messages = next["messages"].as_array_mut().unwrap();
    messages.push(json!({ "role": "assistant", "content": content }));
    messages.push(json!({ "role": "user", "content": "And then?" }));
    let reply = world.exchange(&call_with(&next, &[THRESHOLD])).unwrap();
    assert!(prompt(&reply) < 2_000, "{}", prompt(&reply));
    assert!(!seen.lock().unwrap().pop().unwrap().contains("tool_result"));
}

#[test]
fn n3_a_threshold_compaction_can_pause_and_can_fail() {
    let edits = |pause: bool| {
        json!([{
            "type": "compact_20260112", "trigger": { "type": "input_tokens", "value": 50_000 },
            "pause_after_compaction": pause, "instructions": "Be brief. <summary>",
        }])
    };
    let (mut world, _) = watching();
    let body = with_edits(working(150), edits(true));
    let reply = world.exchange(&call_with(&body, &[THRESHOLD])).unwrap();
    assert_eq!(reply.message["stop_reason"], "compaction");
    assert_eq!(reply.message["content"].as_array().unwrap().len(), 1);
    let mut world = world_with(|_| calling());
    let body = with_edits(working(150), edits(false));
    let reply = world.exchange(&call_with(&body, &[THRESHOLD])).unwrap();
    assert_eq!(reply.message["content"][0]["content"], Value::Null);
    assert_eq!(reply.message["stop_reason"], "tool_use");
    assert!(prompt(&reply) > 50_000);
    let low = json!([{ "type": "compact_20260112", "trigger": { "type": "input_tokens", "value": 49_999 } }]);
    let error = refused(
        &mut world,
        &call_with(&with_edits(working(1), low), &[THRESHOLD]),
    );
    assert_eq!(error.status, 400);
}

fn calling() -> ReplyDraft {
    ReplyDraft {
        content: vec![DraftBlock::ToolUse {
            name: "Read".into(),
            input: json!({ "path": "a" }),
        }],
        stop: DraftStop::Natural,
    }
}

/// A request to summarize a conversation.
fn on_demand() -> Value {
    let mut body = working(5);
    body["compaction"] = json!({ "type": "summarize" });
    body
}

#[test]
fn n3_compaction_on_demand_gives_a_signed_block_and_reads_the_cache() {
    let (mut world, _) = watching();
    let mut body = working(5);
    let last = body["messages"].as_array_mut().unwrap().last_mut().unwrap();
    last["content"][0]["cache_control"] = marker();
    world.exchange(&call_with(&body, &[ON_DEMAND])).unwrap();
    body["compaction"] = json!({ "type": "summarize" });
    let reply = world.exchange(&call_with(&body, &[ON_DEMAND])).unwrap();
    assert_eq!(reply.message["stop_reason"], "compaction");
    let usage = &reply.message["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["output_tokens"]),
        (&json!(0), &json!(0))
    );
    let step = &usage["iterations"][0];
    assert_eq!(step["type"], "compaction");
    assert!(
        step["cache_read_input_tokens"].as_u64().unwrap() > 1_500,
        "{step}"
    );
    let content = reply.message["content"].as_array().unwrap();
    assert_eq!(content.len(), 1);
    let sse = reply.sse();
    assert_eq!(sse.matches("compaction_delta").count(), 1);

    let block = content[0].clone();
    let next = |block: &Value| {
        json!({
            "model": "claude-opus-5", "max_tokens": 1_000, "tools": body["tools"],
            "messages": [
                { "role": "assistant", "content": [block] },
                { "role": "user", "content": "Go on." },
            ],
        })
    };
    let reply = world
        .exchange(&call_with(&next(&block), &[ON_DEMAND]))
        .unwrap();
    assert!(prompt(&reply) < 600);
    for (field, value, code) in [
        ("content", json!("Other."), "compaction_content_mismatch"),
        ("signature", json!("AAAA"), "compaction_signature_invalid"),
        (
            "tool_changes",
            json!([{ "type": "tool_addition" }]),
            "compaction_tool_changes_mismatch",
        ),
    ] {
        let mut changed = block.clone();
        changed[field] = value;
        let error = refused(&mut world, &call_with(&next(&changed), &[ON_DEMAND]));
        assert_eq!(
            (error.status, error.code),
            (400, Some(code)),
            "{}",
            error.message
        );
    }
    let mut twice = next(&block);
    twice["messages"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "role": "assistant", "content": [block] }));
    twice["messages"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "role": "user", "content": "Go on." }));
    let error = refused(&mut world, &call_with(&twice, &[ON_DEMAND]));
    assert_eq!(error.code, Some("compaction_block_ambiguous"));
    let mut late = next(&block);
    late["messages"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({ "role": "user", "content": "Hi." }));
    let error = refused(&mut world, &call_with(&late, &[ON_DEMAND]));
    assert_eq!(error.code, Some("compaction_block_misplaced"));
}

#[test]
fn n3_compaction_on_demand_refuses_what_it_cannot_summarize() {
    let (mut world, _) = watching();
    let error = refused(&mut world, &call(&on_demand()));
    assert!(
        error
            .message
            .contains("requires anthropic-beta: compact-2026-09-04"),
        "{}",
        error.message
    );
    let mut open = on_demand();
    open["messages"].as_array_mut().unwrap().pop();
    let error = refused(&mut world, &call_with(&open, &[ON_DEMAND]));
    assert_eq!(error.code, Some("compaction_incomplete_turn"));
    let mut stops = on_demand();
    stops["stop_sequences"] = json!(["x"]);
    assert_eq!(
        refused(&mut world, &call_with(&stops, &[ON_DEMAND])).status,
        400
    );
    world.refuse_compactions(1);
    let error = refused(&mut world, &call_with(&on_demand(), &[ON_DEMAND]));
    assert_eq!(
        (error.status, error.code),
        (529, Some("compaction_unavailable"))
    );
    assert!(
        world
            .exchange(&call_with(&on_demand(), &[ON_DEMAND]))
            .is_ok()
    );
    let counted = world.count_tokens(&call_with(&without_max(&on_demand()), &[ON_DEMAND]));
    assert!(counted.unwrap()["input_tokens"].as_u64().unwrap() > 1_500);
}

#[test]
fn n3_a_failed_compaction_is_empty_says_why_and_is_billed() {
    type Says = fn(&ModelTurn<'_>) -> ReplyDraft;
    let cases: [(Says, &str); 4] = [
        (|_| calling(), "tool_use"),
        (
            |_| ReplyDraft {
                content: Vec::new(),
                stop: DraftStop::Refusal,
            },
            "refusal",
        ),
        (
            |_| ReplyDraft {
                stop: DraftStop::CutOff,
                ..text("<summary>half")
            },
            "max_tokens",
        ),
        (|_| ReplyDraft::default(), "end_turn"),
    ];
    for (model, reason) in cases {
        let mut world = world_with(model);
        let reply = world
            .exchange(&call_with(&on_demand(), &[ON_DEMAND]))
            .unwrap();
        assert_eq!(reply.message["content"], json!([]));
        assert_eq!(reply.message["stop_reason"], reason);
        assert!(reply.cost.unwrap().pico() > 0);
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

fn without_max(body: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().remove("max_tokens");
    body
}

//! Server-side compaction: past a threshold and on demand.
use longhaul_sim::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft};
use serde_json::{Value, json};

use crate::client::*;
use crate::manage::{watching, with_edits, without_max, working};

const THRESHOLD: &str = "compact-2026-01-12";
const ON_DEMAND: &str = "compact-2026-09-04";

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

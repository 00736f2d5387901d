//! Context management and compaction.

use serde_json::{Value, json};

use super::{OPUS, SONNET, say, tool};
use crate::support::{BETAS, OLD, admit, body, call, refusal, taken};

#[test]
fn edits_of_the_context_have_their_order_and_their_least() {
    let all = call(OLD, &BETAS);
    let edits = |edits: Value| body(OPUS, json!({"context_management": {"edits": edits}}));
    let thinking = json!({"type": "clear_thinking_20251015", "keep": "all"});
    let tools = json!({"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 5}, "clear_tool_inputs": ["read"]});
    taken(&edits(json!([thinking, tools])), &all);
    for keep in [
        json!({"type": "all"}),
        json!({"type": "thinking_turns", "value": 1}),
    ] {
        taken(
            &edits(json!([{"type": "clear_thinking_20251015", "keep": keep}])),
            &all,
        );
    }
    let at = |value: u64| json!([{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": value}}]);
    taken(&edits(at(50_000)), &all);
    for (list, words) in [
        (
            json!([tools, thinking]),
            "context_management.edits.1: `clear_thinking_20251015` strategy must be the first in `edits`",
        ),
        (
            at(49_999),
            "context_management.edits.0.compact_20260112.trigger.input_tokens.value: Input should be greater than or equal to 50000",
        ),
        (
            json!([{"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 0}}]),
            "context_management.edits.0.clear_thinking_20251015.keep.thinking_turns.value: Input should be greater than or equal to 1",
        ),
        (
            json!([{"type": "clear_thinking_20251015", "keep": "some"}]),
            "context_management.edits.0.clear_thinking_20251015.keep: Input should be 'all'",
        ),
        (
            json!([{"type": "clear_tool_uses_20250919", "zzz": 1}]),
            "context_management.edits.0.clear_tool_uses_20250919.zzz: Extra inputs are not permitted",
        ),
    ] {
        assert_eq!(refusal(&edits(list), &all), words);
    }
    let mut silent = edits(json!([thinking]));
    silent["model"] = SONNET.into();
    assert_eq!(
        refusal(&silent, &all),
        "context_management.edits.0: `clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive"
    );
    let only_clearing = call(OLD, &["context-management-2025-06-27"]);
    assert_eq!(
        refusal(&edits(at(50_000)), &only_clearing),
        "context_management.edits.0: Input tag 'compact_20260112' found using 'type' does not match any of the expected tags: 'clear_tool_uses_20250919', 'clear_thinking_20251015'"
    );
}

#[test]
fn compaction_on_demand_goes_alone() {
    let all = call(OLD, &BETAS);
    let with = |more: Value| {
        let mut sent = body(SONNET, more);
        sent["compaction"] = json!({"type": "summarize", "instructions": "Be brief."});
        sent
    };
    taken(&with(json!({})), &all);
    for (more, what) in [
        (
            json!({"context_management": {"edits": []}}),
            "`context_management`",
        ),
        (json!({"stop_sequences": ["x"]}), "`stop_sequences`"),
        (
            json!({"tools": [tool("read")], "tool_choice": {"type": "any"}}),
            "`tool_choice` of type \"any\" or \"tool\"",
        ),
        (
            json!({"output_config": {"format": {"type": "json_schema", "schema": {}}}}),
            "`output_config.format`",
        ),
        (
            json!({"output_config": {"task_budget": {"type": "tokens", "total": 9, "remaining": 3}}}),
            "`output_config.task_budget.remaining`",
        ),
    ] {
        assert_eq!(
            refusal(&with(more), &all),
            format!("compaction: cannot be combined with {what}")
        );
    }
    let mut long = with(json!({}));
    long["compaction"]["instructions"] = "x".repeat(16_385).into();
    assert_eq!(
        refusal(&long, &all),
        "compaction.instructions: String should have at most 16384 characters"
    );
    long["compaction"]["instructions"] = "x".repeat(16_384).into();
    taken(&long, &all);
    let summary = say(
        "assistant",
        json!([{"type": "compaction", "content": "x", "signature": "s"}]),
    );
    let error = admit(&with(json!({"messages": [summary]})), &all).unwrap_err();
    assert_eq!(error.code, Some("compaction_nothing_to_summarize"));
}

#[test]
fn a_signed_summary_comes_first_and_alone() {
    let all = call(OLD, &BETAS);
    let summary = say(
        "assistant",
        json!([{"type": "compaction", "content": "x", "signature": "s"}]),
    );
    let user = say("user", json!("a"));
    let sent = |messages: &[&Value]| body(OPUS, json!({"messages": messages}));
    taken(&sent(&[&summary, &user]), &all);
    let error = admit(&sent(&[&user, &summary, &user]), &all).unwrap_err();
    assert_eq!(error.code, Some("compaction_block_misplaced"));
    assert_eq!(
        error.message,
        "`compaction` block must be sent first, in place of the messages it summarizes; remove those messages"
    );
    let error = admit(&sent(&[&summary, &user, &summary, &user]), &all).unwrap_err();
    assert_eq!(error.code, Some("compaction_block_ambiguous"));
    // A failed compaction block has no effect.
    let failed = say(
        "assistant",
        json!([{"type": "compaction", "content": null}]),
    );
    taken(&sent(&[&summary, &user, &failed, &user]), &all);
    assert_eq!(
        refusal(
            &sent(&[&summary, &user]),
            &call(OLD, &["compact-2026-01-12"])
        ),
        "messages.0.content.0.compaction.signature: Extra inputs are not permitted"
    );
    let cited = say(
        "assistant",
        json!([{"type": "compaction", "content": "x", "citations": null}]),
    );
    assert_eq!(
        refusal(&sent(&[&cited, &user]), &all),
        "messages.0.content.0.compaction.citations: Extra inputs are not permitted"
    );
    let empty = say("assistant", json!([{"type": "compaction", "content": ""}]));
    assert_eq!(
        refusal(&sent(&[&empty, &user]), &all),
        "messages.0.content.0.compaction.content: String should have at least 1 character"
    );
    let mut both = sent(&[&summary, &user]);
    both["context_management"] = json!({"edits": [{"type": "compact_20260112"}]});
    assert_eq!(
        refusal(&both, &all),
        "context_management.edits.0: `compact_20260112` cannot be used on a request that carries a signed `compaction` block"
    );
}

//! Tests the running count.

use serde_json::json;

use crate::lines::{Lines, usage};

#[test]
fn t1_the_newest_usage_and_an_estimate_of_what_follows() {
    let mut lines = Lines::default();
    lines.user("1", "hello");
    lines.reply(
        "2",
        "m1",
        json!([{"type": "text", "text": "hi"}]),
        usage(1_000),
    );
    assert_eq!(lines.context(), (1_000, 0, 1_000));
    // Eight characters are two tokens, padded to three.
    lines.user("3", "12345678");
    assert_eq!(lines.context(), (1_000, 3, 1_003));
}

#[test]
fn t1_results_between_the_lines_of_one_reply_are_counted() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Read", "t1", usage(500));
    lines.result("3", "t1", &"x".repeat(400));
    lines.after("2").call("4", "m1", "Read", "t2", usage(500));
    lines.result("5", "t2", &"x".repeat(40));
    // The weights are 100 and 10 tokens; the second call's own line is inside what was measured.
    assert_eq!(lines.context(), (500, 147, 647));
}

#[test]
fn t1_the_largest_usage_of_a_reply_counts() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.reply(
        "2",
        "m1",
        json!([{"type": "text", "text": "a"}]),
        usage(900),
    );
    lines.reply(
        "3",
        "m1",
        json!([{"type": "text", "text": "b"}]),
        usage(1_200),
    );
    lines.reply(
        "4",
        "m1",
        json!([{"type": "text", "text": "c"}]),
        usage(1_100),
    );
    assert_eq!(lines.context(), (1_200, 0, 1_200));
}

#[test]
fn t1_the_last_step_of_a_reply_is_its_size() {
    let step =
        |kind: &str, input: u64| json!({"type": kind, "input_tokens": input, "output_tokens": 10});
    let mut lines = Lines::default();
    lines.user("1", "go");
    let steps = json!([
        step("compaction", 150_000),
        step("message", 20_000),
        step("advisor_message", 90_000)
    ]);
    lines.reply(
        "2",
        "m1",
        json!([]),
        json!({"input_tokens": 20_000, "output_tokens": 10, "iterations": steps}),
    );
    assert_eq!(lines.context().0, 20_010);
}

#[test]
fn t1_usage_before_a_rewind_does_not_anchor() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.reply(
        "2",
        "m1",
        json!([{"type": "text", "text": "a"}]),
        usage(1_000),
    );
    lines.user("3", "more");
    lines.reply(
        "4",
        "m2",
        json!([{"type": "text", "text": "b"}]),
        usage(9_000),
    );
    lines.after("2").user("5", "instead");
    assert_eq!(lines.context(), (1_000, 3, 1_003));
}

#[test]
fn t5_zero_missing_and_synthetic_usage_never_anchor() {
    let text = json!([{"type": "text", "text": "12345678"}]);
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.reply("2", "m1", text.clone(), usage(1_000));
    lines.reply(
        "3",
        "m2",
        text.clone(),
        json!({"input_tokens": 0, "output_tokens": 0}),
    );
    lines.reply("4", "m3", text.clone(), json!(null));
    assert_eq!(
        lines.context(),
        (1_000, 6, 1_006),
        "an aborted reply is in the window all the same"
    );
    let message =
        |model: &str| json!({"id": "m4", "model": model, "content": text, "usage": usage(5_000)});
    lines.add(
        "5",
        json!({"type": "assistant", "message": message("<synthetic>")}),
    );
    lines.add("6", json!({"type": "assistant", "isApiErrorMessage": true, "message": message("claude-opus-4-5")}));
    assert_eq!(
        lines.context(),
        (1_000, 6, 1_006),
        "what the host wrote is neither measured nor sent"
    );
    lines.add(
        "7",
        json!({"type": "assistant", "isSidechain": true, "message": message("claude-opus-4-5")}),
    );
    assert_eq!(lines.context(), (1_000, 6, 1_006), "nor is a sub-agent's");
}

#[test]
fn t5_a_reply_that_is_measured_on_a_later_line_anchors_at_its_first() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call(
        "2",
        "m1",
        "Read",
        "t1",
        json!({"input_tokens": 0, "output_tokens": 0}),
    );
    lines.result("3", "t1", &"x".repeat(400));
    lines.after("2").call("4", "m1", "Read", "t2", usage(500));
    assert_eq!(lines.context(), (500, 134, 634));
}

#[test]
fn t1_what_was_cleared_since_the_measurement_is_subtracted_unpadded() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Read", "t1", usage(500));
    lines.result("3", "t1", &"x".repeat(4_000));
    lines.reply(
        "4",
        "m2",
        json!([{"type": "text", "text": "done"}]),
        usage(2_000),
    );
    lines.user("5", "12345678");
    lines.clearing("6", &["t1"]);
    assert_eq!(lines.context(), (2_000, 3 - 1_000, 1_003));
    // Clearing a result again has no further effect; and a result after the measurement is simply gone.
    lines.clearing("7", &["t1"]);
    assert_eq!(lines.context().2, 1_003);
}

#[test]
fn t1_a_result_that_came_and_was_cleared_since_counts_nothing() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Read", "t1", usage(500));
    lines.result("3", "t1", &"x".repeat(4_000));
    lines.clearing("4", &["t1"]);
    assert_eq!(lines.context(), (500, 0, 500));
}

#[test]
fn t1_a_fresh_boundary_is_the_estimate_of_the_view_alone() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.reply(
        "2",
        "m1",
        json!([{"type": "text", "text": "a"}]),
        usage(100_000),
    );
    lines.boundary("3", "4", json!({"trigger": "auto", "preTokens": 100_000}));
    // "the summary" has eleven characters: three tokens, padded to four.
    assert_eq!(lines.context(), (0, 4, 4));
}

#[test]
fn t1_usage_inside_a_preserved_segment_is_stale() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.user("2", "12345678");
    lines.reply(
        "3",
        "m1",
        json!([{"type": "text", "text": "12345678"}]),
        usage(100_000),
    );
    let segment = json!({"headUuid": "2", "anchorUuid": "5", "tailUuid": "3"});
    lines.boundary(
        "4",
        "5",
        json!({"trigger": "auto", "preservedSegment": segment}),
    );
    assert_eq!(lines.view(), [4, 5, 2, 3]);
    assert_eq!(lines.context(), (0, 10, 10));
}

#[test]
fn t3_a_results_count_is_kept_by_its_call() {
    use longhaul_core::message::Id;
    use longhaul_core::tokens::{EntryStanding, Estimate, LedgerEntry, TokenLedger};
    let mut ledger = TokenLedger::new();
    let call = Id::of("t1");
    let input = LedgerEntry::Input {
        weight: Estimate::ZERO,
        results: &[(call, Estimate::new(70))],
    };
    ledger.push(input, EntryStanding::Live);
    assert_eq!(ledger.result(call), Some(Estimate::new(70)));
    ledger.push(LedgerEntry::Clearing(&[call]), EntryStanding::Live);
    assert_eq!(ledger.result(call), None);
    assert_eq!(ledger.context().tokens(), 0);
}

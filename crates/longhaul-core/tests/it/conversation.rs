//! Tests chains, boundaries and the live view.

use longhaul_core::normalize::MessageOutline;
use longhaul_core::transcript::TranscriptProblemKind;
use serde_json::json;

use crate::lines::{Lines, usage};

fn problems(lines: &Lines) -> Vec<(u64, TranscriptProblemKind)> {
    let (_, _, problems) = lines.resolve();
    problems
        .iter()
        .map(|problem| (problem.line, problem.kind))
        .collect()
}

fn messages(lines: &Lines) -> usize {
    let (table, conversation, _) = lines.resolve();
    MessageOutline::of(&table, &conversation).roles.len()
}

fn three_turns() -> Lines {
    let mut lines = Lines::default();
    lines.user("1", "one");
    lines.reply(
        "2",
        "m1",
        json!([{"type": "text", "text": "a"}]),
        usage(100),
    );
    lines.user("3", "two");
    lines.reply(
        "4",
        "m2",
        json!([{"type": "text", "text": "b"}]),
        usage(200),
    );
    lines
}

#[test]
fn m5_the_view_goes_back_to_the_last_boundary() {
    let mut lines = three_turns();
    assert_eq!(lines.view(), [1, 2, 3, 4]);
    lines.boundary("5", "6", json!({"trigger": "auto"}));
    lines.user("7", "three");
    assert_eq!(lines.view(), [5, 6, 7]);
    lines.boundary("8", "9", json!({"trigger": "manual"}));
    assert_eq!(lines.view(), [8, 9]);
    assert_eq!(problems(&lines), []);
}

#[test]
fn m5_only_a_system_entry_is_a_boundary() {
    let mut lines = three_turns();
    let message = json!({"role": "user", "content": "three"});
    lines.add(
        "5",
        json!({"type": "user", "subtype": "compact_boundary", "parentUuid": "4", "message": message}),
    );
    assert_eq!(lines.view(), [1, 2, 3, 4, 5]);
    assert_eq!(messages(&lines), 5);
}

#[test]
fn m5_a_rewind_goes_back_before_a_boundary() {
    let mut lines = three_turns();
    lines.boundary("5", "6", json!({"trigger": "auto"}));
    lines.after("2").user("7", "another way");
    assert_eq!(lines.view(), [1, 2, 7]);
    assert_eq!(problems(&lines), [], "an abandoned branch is no problem");
}

#[test]
fn m5_attachments_between_boundary_and_summary_are_read_as_written() {
    let mut lines = three_turns();
    lines.add("5", json!({"type": "system", "subtype": "compact_boundary", "parentUuid": null, "logicalParentUuid": "4"}));
    lines.add(
        "6",
        json!({"type": "attachment", "attachment": {"type": "todo", "content": []}}),
    );
    lines.add(
        "7",
        json!({"type": "user", "isCompactSummary": true, "message": {"content": "summary"}}),
    );
    assert_eq!(lines.view(), [5, 6, 7]);
    assert_eq!(messages(&lines), 1);
}

#[test]
fn m5_a_segment_kept_behind_the_summary_is_relinked() {
    let mut lines = three_turns();
    let segment = json!({"headUuid": "3", "anchorUuid": "6", "tailUuid": "4"});
    lines.boundary(
        "5",
        "6",
        json!({"trigger": "manual", "preservedSegment": segment}),
    );
    lines.user("7", "three");
    assert_eq!(lines.view(), [5, 6, 3, 4, 7]);
    // Some programs chain the next entry to the last kept one instead.
    lines.after("4").user("8", "four");
    assert_eq!(lines.view(), [5, 6, 3, 4, 8]);
    assert_eq!(problems(&lines), []);
}

#[test]
fn m5_a_segment_kept_before_the_summary_is_relinked_to_the_boundary() {
    let mut lines = three_turns();
    let segment = json!({"headUuid": "1", "anchorUuid": "5", "tailUuid": "2"});
    lines.boundary(
        "5",
        "6",
        json!({"trigger": "manual", "preservedSegment": segment}),
    );
    lines.user("7", "three");
    assert_eq!(lines.view(), [5, 1, 2, 6, 7]);
}

#[test]
fn m5_the_list_of_preserved_messages_wins_over_the_segment() {
    let mut lines = three_turns();
    let metadata = json!({
        "preservedSegment": {"headUuid": "1", "anchorUuid": "6", "tailUuid": "4"},
        "preservedMessages": {"anchorUuid": "6", "uuids": ["1", "4"]},
    });
    lines.boundary("5", "6", metadata);
    assert_eq!(lines.view(), [5, 6, 1, 4]);
}

#[test]
fn m5_segments_nest_over_earlier_boundaries() {
    let mut lines = three_turns();
    let first = json!({"headUuid": "3", "anchorUuid": "6", "tailUuid": "4"});
    lines.boundary("5", "6", json!({"preservedSegment": first}));
    lines.user("7", "three");
    // This boundary keeps the entries that the first boundary kept, and those since.
    let second = json!({"headUuid": "4", "anchorUuid": "9", "tailUuid": "7"});
    lines.boundary("8", "9", json!({"preservedSegment": second}));
    lines.user("10", "four");
    assert_eq!(lines.view(), [8, 9, 4, 7, 10]);
    assert_eq!(problems(&lines), []);
}

#[test]
fn m4_a_broken_segment_is_reported_and_left_out() {
    for segment in [
        json!({"headUuid": "gone", "anchorUuid": "6", "tailUuid": "4"}),
        json!({"headUuid": "3", "anchorUuid": "gone", "tailUuid": "4"}),
        json!({"headUuid": "4", "anchorUuid": "6", "tailUuid": "3"}),
    ] {
        let mut lines = three_turns();
        lines.boundary("5", "6", json!({"preservedSegment": segment}));
        lines.user("7", "three");
        assert_eq!(lines.view(), [5, 6, 7]);
        assert_eq!(
            problems(&lines),
            [(5, TranscriptProblemKind::BrokenSegment)]
        );
    }
}

#[test]
fn m6_parallel_calls_stored_as_several_entries_are_one_message() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Read", "t1", usage(100));
    lines.call("3", "m1", "Read", "t2", usage(100));
    // Each result follows its own call, so the chain passes through only one of them.
    lines.after("2").result("4", "t1", "one");
    lines.after("3").result("5", "t2", "two");
    lines.reply(
        "6",
        "m2",
        json!([{"type": "text", "text": "done"}]),
        usage(300),
    );
    assert_eq!(lines.view(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(messages(&lines), 4);
    assert_eq!(problems(&lines), []);
}

#[test]
fn m6_results_of_an_abandoned_branch_stay_out() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Read", "t1", usage(100));
    lines.result("3", "t1", "first try");
    lines.after("2").result("4", "t1", "second try");
    lines.user("5", "on");
    assert_eq!(lines.view(), [1, 2, 4, 5]);
}

#[test]
fn m4_duplicate_uuids_dangling_and_cyclic_parents_are_survived() {
    let mut lines = three_turns();
    lines.add(
        "2",
        json!({"type": "user", "message": {"content": "imposter"}}),
    );
    lines.after("4").user("6", "on");
    assert_eq!(
        problems(&lines),
        [(5, TranscriptProblemKind::DuplicateUuid)]
    );
    assert_eq!(lines.view(), [1, 2, 3, 4, 6]);

    let mut lines = three_turns();
    lines.after("never written").user("5", "on");
    assert_eq!(
        problems(&lines),
        [(5, TranscriptProblemKind::DanglingParent)]
    );
    assert_eq!(
        lines.view(),
        [1, 2, 3, 4, 5],
        "it follows the entry before it"
    );

    let mut lines = Lines::default();
    lines.after("3").user("1", "a");
    lines.user("2", "b").user("3", "c").user("4", "d");
    assert_eq!(problems(&lines), [(1, TranscriptProblemKind::CyclicParent)]);
    assert_eq!(lines.view(), [1, 2, 3, 4]);

    let mut lines = three_turns();
    lines.after("5").user("5", "my own parent");
    assert_eq!(problems(&lines), [(5, TranscriptProblemKind::CyclicParent)]);
    assert_eq!(lines.view(), [1, 2, 3, 4, 5]);
}

#[test]
fn m4_orphans_are_reported_except_in_the_last_round() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Read", "t1", usage(100));
    assert_eq!(problems(&lines), [], "still waiting");
    lines.user("3", "never mind");
    lines.reply(
        "4",
        "m2",
        json!([{"type": "text", "text": "fine"}]),
        usage(200),
    );
    assert_eq!(problems(&lines), [(2, TranscriptProblemKind::OrphanCall)]);
    lines.result("5", "t9", "whose?");
    assert_eq!(
        problems(&lines),
        [
            (5, TranscriptProblemKind::OrphanResult),
            (2, TranscriptProblemKind::OrphanCall)
        ]
    );
}

#[test]
fn m4_a_call_that_a_rewind_left_waiting_is_no_orphan() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Read", "t1", usage(100));
    lines.after("1").user("3", "rather this");
    lines.reply(
        "4",
        "m2",
        json!([{"type": "text", "text": "fine"}]),
        usage(200),
    );
    assert_eq!(problems(&lines), []);
}

#[test]
fn m5_sidechains_and_progress_are_not_in_the_main_view() {
    let mut lines = three_turns();
    lines.add("5", json!({"type": "user", "isSidechain": true, "parentUuid": null, "message": {"content": "agent"}}));
    lines.add("6", json!({"type": "progress", "data": {}}));
    assert_eq!(lines.view(), [1, 2, 3, 4]);
    lines.user("7", "on");
    assert_eq!(
        lines.view(),
        [1, 2, 3, 4, 6, 7],
        "progress may be in the chain"
    );
    assert_eq!(messages(&lines), 5);
}

#[test]
fn m5_a_sub_agents_own_file_is_read_as_a_main_one() {
    let mut lines = Lines::default();
    let side = |content: &str, parent: Option<&str>| json!({"type": "user", "isSidechain": true, "parentUuid": parent, "message": {"content": content}});
    lines
        .add("1", side("task", None))
        .add("2", side("more", Some("1")));
    assert_eq!(lines.view(), [1, 2]);
}

#[test]
fn z1_messages_merge_and_what_is_not_sent_is_not_counted() {
    let mut lines = Lines::default();
    lines.user("1", "a").user("2", "b");
    lines.add(
        "3",
        json!({"type": "attachment", "attachment": {"type": "todo"}}),
    );
    lines.add("4", json!({"type": "system", "subtype": "turn_duration"}));
    lines.reply(
        "5",
        "m1",
        json!([{"type": "text", "text": "\n\n"}]),
        usage(100),
    );
    lines.reply(
        "6",
        "m1",
        json!([{"type": "text", "text": "hi"}]),
        usage(100),
    );
    assert_eq!(messages(&lines), 2);
    lines.reply(
        "7",
        "m2",
        json!([{"type": "thinking", "thinking": "hm", "signature": "s"}]),
        usage(100),
    );
    assert_eq!(
        messages(&lines),
        2,
        "a tail of nothing but thinking is dropped"
    );
}

#[test]
fn z2_an_orphan_call_gets_a_result_and_the_first_message_is_the_users() {
    let mut lines = Lines::default();
    lines.call("1", "m1", "Read", "t1", usage(100));
    assert_eq!(messages(&lines), 3);
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.result("2", "t9", "whose?");
    assert_eq!(messages(&lines), 1, "an orphan result is dropped");
}

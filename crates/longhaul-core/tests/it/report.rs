//! Tests what the report says beyond the counts.

use serde_json::json;

use crate::lines::{Lines, inspect, usage};

fn bytes(lines: &Lines) -> Vec<u8> {
    (lines.lines.join("\n") + "\n").into_bytes()
}

#[test]
fn t4_what_is_in_the_window_by_category() {
    let mut lines = Lines::default();
    lines.user("1", &"h".repeat(40));
    lines.add(
        "2",
        json!({"type": "attachment", "attachment": {"type": "todo", "content": "12345"}}),
    );
    lines.call("3", "m1", "Bash", "t1", usage(10_000));
    lines.result("4", "t1", &"r".repeat(400));
    lines.reply(
        "5",
        "m2",
        json!([{"type": "text", "text": "a".repeat(80)}]),
        json!({"input_tokens": 1, "cache_read_input_tokens": 19_959, "output_tokens": 40}),
    );
    let report = inspect(&bytes(&lines));
    let categories = &report.categories;
    assert_eq!(categories.human_messages, 10);
    assert_eq!(categories.assistant_messages, 20);
    assert_eq!(categories.tool_requests, 2, "Bash and {{}}");
    assert_eq!(categories.tool_results, 100);
    assert_eq!(categories.tool_results_by_tool["Bash"], 100);
    assert_eq!(categories.attachments, 8);
    assert_eq!(categories.unattributed, 20_000 - 140);
    assert_eq!(report.tools["Bash"].calls, 1);
    assert_eq!(report.tools["Bash"].tokens, 100);
}

#[test]
fn t4_a_summary_is_part_of_the_human_messages_and_named() {
    let mut lines = Lines::default();
    lines
        .user("1", "go")
        .boundary("2", "3", json!({"trigger": "manual", "preTokens": 99}));
    let report = inspect(&bytes(&lines));
    assert_eq!(report.categories.human_messages, 3);
    assert_eq!(report.categories.summaries, 3);
    let [boundary] = &report.boundaries[..] else {
        panic!()
    };
    assert_eq!(boundary.trigger.as_deref(), Some("manual"));
    assert_eq!(boundary.pre_tokens, Some(99));
    assert_eq!(boundary.replaced.entries, 1);
    assert_eq!(boundary.summary_tokens, 3);
}

#[test]
fn t4_cleared_results_are_not_in_the_window() {
    let mut lines = Lines::default();
    lines
        .user("1", "go")
        .call("2", "m1", "Read", "t1", usage(500));
    lines
        .result("3", "t1", &"x".repeat(4_000))
        .clearing("4", &["t1"]);
    let report = inspect(&bytes(&lines));
    assert_eq!(report.categories.tool_results, 0);
    assert!(!report.largest_results[0].in_view);
    assert_eq!(report.largest_results[0].tokens, 1_000);
}

#[test]
fn t4_the_same_path_and_range_read_again_is_a_duplicate() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    let mut read = |n: u32, input: serde_json::Value| {
        let (uuid, call) = (format!("c{n}"), format!("t{n}"));
        let block = json!({"type": "tool_use", "id": call, "name": "Read", "input": input});
        lines.reply(&uuid, &format!("m{n}"), json!([block]), usage(100));
        lines.result(&format!("r{n}"), &call, &"x".repeat(40));
    };
    read(1, json!({"file_path": "/a"}));
    read(2, json!({"file_path": "/a", "offset": 10, "limit": 5}));
    read(3, json!({"file_path": "/a"}));
    read(4, json!({"file_path": "/b"}));
    read(5, json!({"limit": 5, "offset": 10, "file_path": "/a"}));
    let report = inspect(&bytes(&lines));
    assert_eq!(
        (report.duplicate_reads.count, report.duplicate_reads.tokens),
        (2, 20)
    );
    assert_eq!(report.duplicate_reads.files["/a"].count, 2);
    assert_eq!(report.categories.duplicate_reads, 20);
    assert_eq!(report.largest_results[0].about.as_deref(), Some("/a"));
}

#[test]
fn t5_usage_is_counted_once_per_response_and_synthetic_ones_are_not_billed() {
    let mut lines = Lines::default();
    let text = json!([{"type": "text", "text": "a"}]);
    let partial = json!({"input_tokens": 10, "output_tokens": 1});
    let whole = json!({"input_tokens": 10, "output_tokens": 500, "cache_creation_input_tokens": 300,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200}});
    lines
        .user("1", "go")
        .reply("2", "m1", text.clone(), partial)
        .reply("3", "m1", text.clone(), whole);
    let synthetic = json!({"id": "m9", "model": "<synthetic>", "content": text, "usage": {"input_tokens": 7, "output_tokens": 7}});
    lines.add("4", json!({"type": "assistant", "message": synthetic}));
    let report = inspect(&bytes(&lines));
    assert_eq!(report.rounds, 1);
    let billed = report.usage;
    assert_eq!(
        (
            billed.input,
            billed.output,
            billed.cache_write_5m,
            billed.cache_write_1h
        ),
        (10, 500, 100, 200)
    );
    // Opus 4.5 costs 5, 6.25, 10 and 25 dollars per million tokens.
    let cost = (10.0 * 5.0 + 100.0 * 6.25 + 200.0 * 10.0 + 500.0 * 25.0) / 1e6;
    assert!((report.cost_usd - cost).abs() < 1e-12);
}

#[test]
fn n1_an_unknown_model_works_with_stated_assumptions() {
    let mut lines = Lines::default();
    let message =
        json!({"id": "m1", "model": "house-model-7", "content": [], "usage": usage(1_000)});
    lines
        .user("1", "go")
        .add("2", json!({"type": "assistant", "message": message}));
    let report = inspect(&bytes(&lines));
    assert_eq!(report.window.size, 200_000);
    assert_eq!(report.cost_usd, 0.0);
    assert!(
        report
            .assumptions
            .iter()
            .any(|text| text.contains("house-model-7"))
    );
}

#[test]
fn m4_an_empty_file_is_an_empty_report() {
    let report = inspect(b"");
    assert_eq!(
        (report.entries, report.messages, report.context_tokens),
        (0, 0, 0)
    );
    assert_eq!(report.problems, []);
}

#[test]
fn m7_the_head_of_requests_is_an_entry_of_its_own_and_is_counted() {
    use longhaul_core::message::{Entry, EntryKind, PrefixEntry};
    let raw = |text: &str| serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
    let (system, tools) = (
        raw(r#"[ {"type":"text","text":"be good"} ]"#),
        raw(r#"[{"name":"Read"}]"#),
    );
    let (context, settings) = (raw(r#""CLAUDE.md says so""#), raw(r#"{"ttl":"1h"}"#));
    let head = PrefixEntry {
        session_id: "s",
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        system: &system,
        tools: &tools,
        user_context: &context,
        settings: &settings,
        history_through: None,
        reason: None,
    };
    let line = head.to_entry().unwrap();
    let entry = Entry::read(line.clone()).unwrap();
    assert_eq!(entry.facets().kind, EntryKind::Head);
    assert!(entry.view().uuid().is_none());
    assert_eq!(
        entry.view().prefix_part("system").unwrap(),
        system.get().as_bytes(),
        "byte for byte"
    );

    let mut lines = Lines::default();
    lines.user("1", "go");
    lines
        .lines
        .insert(0, String::from_utf8(line.to_vec()).unwrap());
    let report = inspect(&bytes(&lines));
    assert_eq!(report.problems, []);
    assert_eq!(report.messages, 1);
    let categories = &report.categories;
    assert_eq!(
        (
            categories.system_prompt,
            categories.tools,
            categories.memory_files
        ),
        (9, 4, 4)
    );
}

#[test]
fn m7_a_head_that_would_break_its_line_is_refused() {
    use longhaul_core::message::PrefixEntry;
    let raw = |text: &str| serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
    let (broken, fine) = (raw("[\n]"), raw("[]"));
    let head = PrefixEntry {
        session_id: "s",
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        system: &broken,
        tools: &fine,
        user_context: &fine,
        settings: &fine,
        history_through: None,
        reason: None,
    };
    assert!(head.to_entry().is_err());
}

#[test]
fn e1_a_boundary_tells_who_summed_up_what_it_cost_and_who_waited() {
    let made = json!({"by": "fork", "ahead": true, "waitedMs": 0, "tookMs": 12_345, "costUsd": 0.25, "new": [],
        "usage": {"input_tokens": 10, "output_tokens": 900, "cache_read_input_tokens": 150_000}});
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.boundary("2", "3", json!({"trigger": "auto", "made": made}));
    lines.boundary(
        "4",
        "5",
        json!({"trigger": "auto", "made": {"by": "local", "costUsd": null}}),
    );
    lines.boundary("6", "7", json!({"trigger": "auto", "made": 7}));
    let report = inspect(&bytes(&lines));
    let [fork, local, odd] = &report.boundaries[..] else {
        panic!()
    };
    let fork = fork.made.as_ref().unwrap();
    assert_eq!((fork.by.as_deref(), fork.ahead), (Some("fork"), true));
    assert_eq!((fork.waited_ms, fork.took_ms), (Some(0), Some(12_345)));
    assert_eq!(fork.cost_usd, Some(0.25));
    let usage = fork.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cache_read),
        (10, 900, 150_000)
    );
    let local = local.made.as_ref().unwrap();
    assert!(local.usage.is_none() && local.cost_usd.is_none() && !local.ahead);
    assert!(odd.made.is_none() && odd.folds.is_none());
    assert_eq!(report.cost_usd, 0.0, "the conversation's own stays apart");
    assert_eq!(report.cost_beside(), Some(0.25));
}

#[test]
fn o6_a_boundary_tells_how_many_spans_were_folded() {
    let folds = json!({"version": 1, "spans": [{"text": "a", "messages": 3}, {"text": "b", "messages": 4}]});
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.boundary("2", "3", json!({"trigger": "auto", "folds": folds}));
    let report = inspect(&bytes(&lines));
    assert_eq!(report.boundaries[0].folds, Some(2));
}

#[test]
fn e1_notes_that_were_taken_are_counted_beside_the_conversation() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    let taken = |cost: f64| {
        json!({"type": "notes-taken", "timestamp": "2026-03-01T12:00:00Z", "changed": 2, "refused": 0, "costUsd": cost,
            "usage": {"input_tokens": 5, "output_tokens": 70, "cache_read_input_tokens": 1_000}})
        .to_string()
    };
    lines.lines.extend([taken(0.5), taken(0.25)]);
    lines
        .lines
        .push(json!({"type": "notes-taken", "usage": 3, "costUsd": "x"}).to_string());
    let report = inspect(&bytes(&lines));
    assert_eq!(report.notes.runs, 3);
    assert_eq!(
        (report.notes.usage.output, report.notes.usage.cache_read),
        (140, 2_000)
    );
    assert_eq!(report.notes.cost_usd, 0.75);
    assert_eq!((report.cost_usd, report.usage.output), (0.0, 0));
    assert_eq!(report.cost_beside(), Some(0.75));
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let none = inspect(&bytes(&Lines::default()));
    assert_eq!(none.cost_beside(), None);
}

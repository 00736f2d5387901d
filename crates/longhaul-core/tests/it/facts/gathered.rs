//! Tests which facts are gathered from the entries of a session (X1, Y4).

use longhaul_core::facts::{ErrorSource, RuleKind};
use serde_json::{Value, json};

use super::{blocks, call, facts, texts};
use crate::lines::Lines;

#[test]
fn x1_messages_are_what_the_user_wrote_in_the_whole_session_and_nothing_else() {
    let mut lines = Lines::default();
    lines.user("u1", "First request");
    lines.reply(
        "a1",
        "m1",
        json!([{"type": "text", "text": "You must never do that."}]),
        Value::Null,
    );
    lines.add(
        "meta",
        json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "meta"}}),
    );
    lines.user(
        "cmd",
        "<command-name>/model</command-name>\n<command-args></command-args>",
    );
    lines.user("out", "<local-command-stdout>set</local-command-stdout>");
    lines.user("rem", "<system-reminder>be good</system-reminder>");
    blocks(
        &mut lines,
        "int",
        json!([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
    );
    call(
        &mut lines,
        "t1",
        "Bash",
        json!({"command": "ls"}),
        "a b",
        false,
    );
    lines.user("gone", "an abandoned branch");
    lines.reply(
        "agone",
        "mg",
        json!([{"type": "text", "text": "ok"}]),
        Value::Null,
    );
    lines.after("t1-r");
    blocks(
        &mut lines,
        "u2",
        json!([
            {"type": "text", "text": "see these"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
            {"type": "text", "text": "<system-reminder>x</system-reminder>"},
            {"type": "text", "text": "and this"},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}},
        ]),
    );
    lines.boundary("b1", "s1", json!({"trigger": "auto", "preTokens": 9}));
    lines.add("q", json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "while you work: hurry", "commandMode": "prompt"}}));
    lines.add("qt", json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "<x>", "commandMode": "task-notification"}}));
    lines.user("u3", "last");
    let facts = facts(&lines);
    assert_eq!(
        texts(&facts),
        [
            "First request",
            "see these\nand this",
            "while you work: hurry",
            "last"
        ]
    );
    let ordinals: Vec<_> = facts
        .messages()
        .iter()
        .map(|one| (one.ordinal, one.uuid.as_str()))
        .collect();
    assert_eq!(ordinals, [(1, "u1"), (2, "u2"), (3, "q"), (4, "u3")]);
    assert_eq!(facts.messages()[1].media(), "[image] [document]");
    assert!(facts.messages()[0].at.is_some());
    assert!(
        facts.rules().is_empty(),
        "what the assistant said is no rule"
    );
}

#[test]
fn y4_rules_are_kept_in_order_with_their_revocation_behind_them() {
    let mut lines = Lines::default();
    lines.user(
        "u1",
        "Fix the parser. Never push to main! Use tabs instead of spaces.",
    );
    lines.user("u2", "Go on.\n```\nmust not be taken from code\n```");
    lines.user("u3", "Forget the rule about tabs.");
    lines.user("u4", "No, don't do the rewrite.");
    let facts = facts(&lines);
    let rules: Vec<_> = facts
        .rules()
        .iter()
        .map(|rule| (rule.kind, rule.text.as_str(), rule.ordinal))
        .collect();
    assert_eq!(
        rules,
        [
            (RuleKind::Rule, "Never push to main!", 1),
            (RuleKind::Rule, "Use tabs instead of spaces.", 1),
            (RuleKind::Revocation, "Forget the rule about tabs.", 3),
            (RuleKind::Cancellation, "No, don't do the rewrite.", 4),
        ]
    );
    assert_eq!(facts.rules()[3].uuid, "u4");
}

#[test]
fn y4_what_a_host_adds_to_a_message_states_no_rule() {
    let mut lines = Lines::default();
    lines.user(
        "u1",
        "Go on. <system-reminder>You must always use the todo list.</system-reminder> Only the docs are left.",
    );
    let facts = facts(&lines);
    assert_eq!(facts.rules().len(), 1);
    assert_eq!(facts.rules()[0].text, "Only the docs are left.");
}

#[test]
fn y4_a_plan_the_user_turned_down_is_noted_until_it_is_accepted() {
    let refused = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nnot now, tests first";
    let plan = json!({"plan": "# Rewrite it all\n\n1. delete"});
    let mut lines = Lines::default();
    lines.user("u1", "plan it");
    call(
        &mut lines,
        "p1",
        "ExitPlanMode",
        plan.clone(),
        refused,
        true,
    );
    call(
        &mut lines,
        "c1",
        "Bash",
        json!({"command": "rm -rf build"}),
        "The user doesn't want to proceed with this tool use.",
        true,
    );
    let found = facts(&lines);
    let titles: Vec<_> = found
        .cancelled()
        .iter()
        .map(|one| (one.title.as_str(), one.said.as_deref()))
        .collect();
    assert_eq!(
        titles,
        [
            ("Rewrite it all", Some("not now, tests first")),
            ("Bash: rm -rf build", None)
        ]
    );
    assert_eq!(found.last_error(), None, "a refusal is no failure");
    call(
        &mut lines,
        "p2",
        "ExitPlanMode",
        plan,
        "User has approved your plan.",
        false,
    );
    call(
        &mut lines,
        "c2",
        "Bash",
        json!({"command": "rm -rf build"}),
        "",
        false,
    );
    assert!(facts(&lines).cancelled().is_empty());
}

#[test]
fn x1_files_are_kept_with_what_was_last_done() {
    let mut lines = Lines::default();
    lines.user("u1", "go");
    let path = |name: &str| json!({"file_path": name});
    call(&mut lines, "t1", "Read", path("/a"), "x", false);
    call(&mut lines, "t2", "Edit", path("/a"), "done", false);
    call(&mut lines, "t3", "Write", path("/b"), "done", false);
    call(
        &mut lines,
        "t4",
        "Read",
        path("/c"),
        "<tool_use_error>File does not exist.</tool_use_error>",
        true,
    );
    call(
        &mut lines,
        "t5",
        "NotebookEdit",
        json!({"notebook_path": "/n"}),
        "done",
        false,
    );
    call(&mut lines, "t6", "Read", path("/a"), "x", false);
    call(&mut lines, "t7", "Edit", path("/b"), "not found", true);
    let facts = facts(&lines);
    let files: Vec<_> = facts
        .files()
        .iter()
        .map(|file| (file.path.as_str(), file.state()))
        .collect();
    assert_eq!(
        files,
        [
            ("/b", "changed, then a change failed"),
            ("/a", "edited"),
            ("/n", "edited"),
            ("/c", "reading failed"),
        ]
    );
}

#[test]
fn x1_the_newest_todo_list_and_tasks_are_kept() {
    let mut lines = Lines::default();
    lines.user("u1", "go");
    let todos = |items: &[(&str, &str)]| {
        let items: Vec<_> = items.iter().map(|(content, status)| json!({"content": content, "status": status, "activeForm": "x"})).collect();
        json!({"todos": items})
    };
    call(
        &mut lines,
        "t1",
        "TodoWrite",
        todos(&[("old", "pending")]),
        "ok",
        false,
    );
    call(
        &mut lines,
        "t2",
        "TodoWrite",
        todos(&[
            ("one", "completed"),
            ("two", "in_progress"),
            ("three", "pending"),
        ]),
        "ok",
        false,
    );
    call(
        &mut lines,
        "t3",
        "TaskCreate",
        json!({"subject": "a task", "description": "d"}),
        "Task #1 created successfully: a task",
        false,
    );
    call(
        &mut lines,
        "t4",
        "TaskCreate",
        json!({"subject": "another"}),
        "Task #2 created successfully: another",
        false,
    );
    call(
        &mut lines,
        "t5",
        "TaskUpdate",
        json!({"taskId": "1", "status": "completed"}),
        "Updated",
        false,
    );
    call(
        &mut lines,
        "t6",
        "TaskUpdate",
        json!({"taskId": "2", "status": "in_progress"}),
        "Updated",
        false,
    );
    let facts = facts(&lines);
    let open: Vec<_> = facts
        .open_todos()
        .map(|todo| (todo.content.as_str(), todo.status.as_str()))
        .collect();
    assert_eq!(
        open,
        [
            ("two", "in_progress"),
            ("three", "pending"),
            ("another", "in_progress")
        ]
    );
    assert_eq!(facts.todos().len(), 5);
}

#[test]
fn x1_the_last_error_is_marked_once_the_same_succeeded() {
    let mut lines = Lines::default();
    lines.user("u1", "go");
    call(
        &mut lines,
        "t1",
        "Bash",
        json!({"command": "make"}),
        "Exit code 2\nno rule",
        true,
    );
    let found = facts(&lines);
    let error = found.last_error().unwrap();
    assert_eq!(
        (error.tool.as_deref(), error.about.as_deref()),
        (Some("Bash"), Some("make"))
    );
    assert_eq!(error.text, "Exit code 2\nno rule");
    call(
        &mut lines,
        "t2",
        "Bash",
        json!({"command": "make clean"}),
        "",
        false,
    );
    assert!(!facts(&lines).last_error().unwrap().succeeded_since);
    call(
        &mut lines,
        "t3",
        "Bash",
        json!({"command": "make"}),
        "",
        false,
    );
    assert!(facts(&lines).last_error().unwrap().succeeded_since);
    lines.add("e1", json!({"type": "assistant", "isApiErrorMessage": true, "message":
        {"id": "x", "model": "<synthetic>", "role": "assistant", "content": [{"type": "text", "text": "API Error: 529"}]}}));
    let found = facts(&lines);
    let error = found.last_error().unwrap();
    assert_eq!(
        (error.source, error.text.as_str(), error.succeeded_since),
        (ErrorSource::Api, "API Error: 529", false)
    );
    lines.reply(
        "a9",
        "m9",
        json!([{"type": "text", "text": "back"}]),
        Value::Null,
    );
    assert!(facts(&lines).last_error().unwrap().succeeded_since);
    lines.add("e2", json!({"type": "system", "subtype": "api_error", "level": "error", "error": {"status": 500, "error": {"message": "overloaded"}}}));
    assert_eq!(facts(&lines).last_error().unwrap().text, "overloaded");
}

#[test]
fn x1_a_huge_message_is_kept_by_its_ends_with_size_and_hash() {
    for size in [3_000_000, 9_000_000] {
        let mut lines = Lines::default();
        lines.user("u1", &format!("begin {} end", "é ".repeat(size / 3)));
        let facts = facts(&lines);
        let message = &facts.messages()[0];
        let cut = message.cut.as_ref().unwrap();
        assert!(message.text.len() <= 2 << 20);
        assert!(message.text.starts_with("begin é") && message.text.ends_with("é  end"));
        assert_eq!(
            message.text.len() as u64 + cut.bytes,
            10 + (size / 3 * 3) as u64
        );
        assert_eq!(cut.hash.len(), 32);
        let ledger = facts.to_ledger().unwrap();
        assert!(ledger.get().len() < 3 << 20);
    }
}

#[test]
fn x1_a_ledger_stays_bounded_whatever_was_said() {
    let mut lines = Lines::default();
    for at in 0..12 {
        lines.user(
            &format!("u{at}"),
            &format!("{at} {}", "x".repeat(1_500_000)),
        );
    }
    let facts = facts(&lines);
    let ledger = facts.to_ledger().unwrap();
    assert!(ledger.get().len() < 5 << 20, "{}", ledger.get().len());
    assert!(ledger.get().contains("\"cut\""));
}

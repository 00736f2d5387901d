//! Tests the gathering of facts that a session must not lose (X1, Y4, ruling 14).

use std::sync::Arc;

use longhaul_core::facts::{ErrorSource, Facts, RuleKind, Vocabulary, session_rows};
use longhaul_core::message::{Entry, EntryKind};
use longhaul_testkit::session::{CompactionSchedule, Feature, KeptRounds, SessionSpec};
use serde_json::{Value, json};

use crate::lines::{Lines, live_lines};

/// Returns the intact entries of a file, in the order of the rows of its table.
pub(crate) fn entries(bytes: &[u8]) -> Vec<Entry> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| Entry::read(line.to_vec().into()).ok())
        .collect()
}

/// Returns the facts of a file's session.
pub(crate) fn session_facts(bytes: &[u8]) -> Facts {
    let (table, conversation) = live_lines(bytes);
    let entries = entries(bytes);
    let rows = session_rows(&table, &conversation);
    Facts::scan(
        Arc::default(),
        rows.iter().map(|row| entries[*row as usize].view()),
    )
}

pub(crate) fn bytes(lines: &Lines) -> Vec<u8> {
    (lines.lines.join("\n") + "\n").into_bytes()
}

fn facts(lines: &Lines) -> Facts {
    session_facts(&bytes(lines))
}

fn texts(facts: &Facts) -> Vec<&str> {
    facts
        .messages()
        .iter()
        .map(|one| one.text.as_str())
        .collect()
}

fn blocks(lines: &mut Lines, uuid: &str, content: Value) {
    lines.add(
        uuid,
        json!({"type": "user", "message": {"role": "user", "content": content}}),
    );
}

/// Adds a call with an input, and its result.
pub(crate) fn call(
    lines: &mut Lines,
    id: &str,
    tool: &str,
    input: Value,
    answer: &str,
    failed: bool,
) {
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
    lines.reply(
        &format!("{id}-a"),
        &format!("m{id}"),
        json!([block]),
        Value::Null,
    );
    let result =
        json!([{"type": "tool_result", "tool_use_id": id, "content": answer, "is_error": failed}]);
    blocks(lines, &format!("{id}-r"), result);
}

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

/// Returns a boundary entry that carries facts.
fn boundary(facts: &Facts, uuid: &str) -> Entry {
    let ledger: Value = serde_json::from_str(facts.to_ledger().unwrap().get()).unwrap();
    let line = json!({"type": "system", "subtype": "compact_boundary", "uuid": uuid, "parentUuid": null,
        "compactMetadata": {"trigger": "auto", "ledger": ledger}});
    Entry::read(line.to_string().into_bytes().into()).unwrap()
}

#[test]
fn x1_facts_go_on_from_a_boundary_without_any_earlier_bytes() {
    for seed in 0..12 {
        let kept = [
            KeptRounds::Nothing,
            KeptRounds::AfterSummary,
            KeptRounds::Listed,
        ][seed as usize % 3];
        let session = SessionSpec::new(seed, 40)
            .compaction(CompactionSchedule::EveryRounds(9))
            .kept(kept)
            .generate();
        let entries = entries(&session.bytes);
        let (table, conversation) = live_lines(&session.bytes);
        let rows = session_rows(&table, &conversation);
        let views: Vec<_> = rows
            .iter()
            .map(|row| entries[*row as usize].view())
            .collect();
        let whole = Facts::scan(Arc::default(), views.iter().copied());
        assert!(!whole.messages().is_empty());
        for cut in [1, views.len() / 3, views.len() / 2, views.len() - 1] {
            // A call and its result lie on one side, as compactions make sure.
            let first = Facts::scan(Arc::default(), views[..cut].iter().copied());
            let carried = boundary(&first, "b");
            let mut second = Facts::from_boundary(Arc::default(), carried.view()).unwrap();
            // Entries that the boundary preserved come again, and count once.
            let kept = cut.saturating_sub(5);
            views[kept..].iter().for_each(|view| second.push(*view));
            assert_eq!(
                second.messages(),
                whole.messages(),
                "seed {seed}, cut {cut}"
            );
            assert_eq!(second.rules(), whole.rules(), "seed {seed}, cut {cut}");
            assert_eq!(second.todos(), whole.todos(), "seed {seed}, cut {cut}");
            let paths = |facts: &Facts| {
                facts
                    .files()
                    .iter()
                    .map(|file| file.path.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(paths(&second), paths(&whole), "seed {seed}, cut {cut}");
            // When a tail is read, the boundary comes after the entries that it preserved.
            let mut tail = Facts::default();
            views[kept..cut].iter().for_each(|view| tail.push(*view));
            tail.push(carried.view());
            views[cut..].iter().for_each(|view| tail.push(*view));
            assert_eq!(
                tail.messages(),
                whole.messages(),
                "seed {seed}, cut {cut}, tail"
            );
            assert_eq!(paths(&tail), paths(&whole), "seed {seed}, cut {cut}, tail");
        }
    }
}

#[test]
fn x1_a_ledger_of_a_later_version_reads_and_garbage_means_scanning() {
    let mut lines = Lines::default();
    lines.user("u1", "never forget me");
    let stored = facts(&lines).to_ledger().unwrap();
    let mut ledger: Value = serde_json::from_str(stored.get()).unwrap();
    ledger["version"] = json!(7);
    ledger["novelty"] = json!({"deep": [1]});
    ledger["messages"][0]["mood"] = json!("fine");
    let read = |ledger: Value| {
        let line = json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "compactMetadata": {"ledger": ledger}});
        let entry = Entry::read(line.to_string().into_bytes().into()).unwrap();
        Facts::from_boundary(Arc::new(Vocabulary::default()), entry.view())
    };
    let facts = read(ledger).unwrap();
    assert_eq!(texts(&facts), ["never forget me"]);
    assert_eq!(facts.rules()[0].text, "never forget me");
    assert!(read(json!({"messages": 3})).is_none());
    assert!(read(json!("x")).is_none());
    assert!(read(json!({})).is_none());
}

/// Returns what the user wrote in a transcript, read with another JSON reader: the line and the text.
pub(crate) fn typed_lines(bytes: &[u8]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let Ok(entry) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        let yes = |name: &str| entry[name] == json!(true);
        if entry["type"] != "user" || yes("isMeta") || yes("isCompactSummary") || yes("isSidechain")
        {
            continue;
        }
        let text = match &entry["message"]["content"] {
            Value::String(text) => text.clone(),
            Value::Array(blocks) => {
                let texts = blocks.iter().filter(|block| block["type"] == "text");
                texts
                    .filter_map(|block| block["text"].as_str())
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            _ => continue,
        };
        let wrapper = [
            "<command-",
            "<local-command-",
            "<bash-",
            "<task-notification",
            "[Request interrupted",
            "<system-reminder",
        ];
        if !text.trim().is_empty() && !wrapper.iter().any(|begin| text.starts_with(begin)) {
            found.push((number, text));
        }
    }
    found
}

#[test]
fn x1_every_prompt_of_any_generated_session_is_in_its_facts() {
    for seed in 0..20 {
        let kept = [
            KeptRounds::Nothing,
            KeptRounds::AfterSummary,
            KeptRounds::AfterBoundary,
            KeptRounds::Listed,
        ][seed as usize % 4];
        let spec = SessionSpec::new(seed, 60)
            .compaction(CompactionSchedule::EveryRounds(11))
            .kept(kept)
            .without(Feature::Branches);
        let session = spec.generate();
        let facts = session_facts(&session.bytes);
        let queued = entries(&session.bytes)
            .iter()
            .filter(|entry| {
                entry.facets().kind == EntryKind::Attachment
                    && entry
                        .bytes()
                        .windows(14)
                        .any(|part| part == b"queued_command")
            })
            .count();
        let meant = typed_lines(&session.bytes);
        let found: std::collections::BTreeSet<_> = texts(&facts).into_iter().collect();
        for (line, text) in &meant {
            assert!(found.contains(text.as_str()), "seed {seed}, line {line}");
        }
        assert_eq!(facts.messages().len(), meant.len() + queued, "seed {seed}");
    }
}

#[test]
fn x1_abandoned_branches_of_generated_sessions_are_left_out() {
    let mut fewer = 0;
    for seed in 0..12 {
        let session = SessionSpec::new(seed, 60)
            .with(Feature::Branches)
            .compaction(CompactionSchedule::EveryRounds(13))
            .generate();
        let facts = session_facts(&session.bytes);
        fewer += usize::from(facts.messages().len() < typed_lines(&session.bytes).len());
        // Messages that the model still sees belong to the session in any case.
        let found: std::collections::BTreeSet<_> = texts(&facts).into_iter().collect();
        for (line, text) in typed_lines(&session.bytes) {
            if session.truth.live.contains(&line) {
                assert!(found.contains(text.as_str()), "seed {seed}, line {line}");
            }
        }
    }
    assert!(fewer > 0, "some branch was abandoned");
}

#[test]
fn x1_every_user_message_of_real_sessions_is_in_their_facts() {
    let Some(files) = longhaul_testkit::corpora::claude_code_transcripts() else {
        return;
    };
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let (table, conversation) = live_lines(&bytes);
        let rows: std::collections::BTreeSet<u64> = session_rows(&table, &conversation)
            .iter()
            .map(|row| table.rows()[*row as usize].line)
            .collect();
        let facts = session_facts(&bytes);
        let found: std::collections::BTreeSet<_> = texts(&facts).into_iter().collect();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let mut abandoned = 0;
        for (line, text) in typed_lines(&bytes) {
            if rows.contains(&(line as u64)) {
                assert!(found.contains(text.as_str()), "{name}, line {line}: {text}");
            } else {
                abandoned += 1;
            }
        }
        println!(
            "{name}: {} messages, {abandoned} abandoned, {} rules, {} files, {} open todos, {} turned down, ledger {} bytes",
            facts.messages().len(),
            facts.rules().len(),
            facts.file_count(),
            facts.open_todos().count(),
            facts.cancelled().len(),
            facts.to_ledger().unwrap().get().len(),
        );
    }
}

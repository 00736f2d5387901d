//! Tests compactions that are written as lines and read back.

use longhaul_core::boundary::{
    ClearingRecord, CompactionRecord, CompactionTrigger, KeptEntry, PreservedAnchor, PreservedPart,
    SignedReply, SummaryAttachment, hook_context,
};
use longhaul_core::summary::PivotDirection;
use longhaul_testkit::session::{
    CompactionSchedule as When, Feature, KeptRounds as Keeps, SessionSpec,
};
use serde_json::{Value, json};

use crate::lines::{Lines, inspect, usage};
use crate::session_file::{Live, SessionFile, envelope, stamp};

fn three_turns() -> SessionFile {
    let mut lines = Lines::default();
    for turn in 0..3 {
        lines.user(&format!("p{turn}"), "ask");
        lines.call(
            &format!("c{turn}"),
            &format!("m{turn}"),
            "Read",
            &format!("t{turn}"),
            usage(100),
        );
        lines.result(&format!("r{turn}"), &format!("t{turn}"), "found");
        lines.reply(
            &format!("a{turn}"),
            &format!("n{turn}"),
            json!([{"type": "text", "text": "so"}]),
            usage(200),
        );
    }
    SessionFile::new(format!("{}\n", lines.lines.join("\n")).into_bytes())
}

fn spoken(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

#[test]
fn f10_a_whole_compaction_leaves_boundary_summary_attachments_and_hook_results() {
    let mut file = three_turns();
    let written = file.compact(None);
    assert_eq!(
        file.seen(),
        [&[written.summary.clone()][..], &written.attached].concat()
    );
    assert_eq!(file.live()[0].uuid(), written.boundary);
    let turn = file.turn("go on");
    assert_eq!(file.seen()[3..], turn);
    assert_eq!(file.problems(), []);
}

#[test]
fn p1_f10_up_to_keeps_the_rest_behind_the_summary_and_before_the_attachments() {
    let mut file = three_turns();
    let written = file.compact(Some((8, PivotDirection::UpTo)));
    let turn = file.turn("go on");
    let kept = spoken(&["p2", "c2", "r2", "a2"]);
    let meant = [vec![written.summary], kept, written.attached, turn.to_vec()].concat();
    assert_eq!(file.seen(), meant);
    assert_eq!(file.problems(), []);
}

#[test]
fn p1_from_keeps_the_part_before_the_pivot_and_the_summary_follows_it() {
    let mut file = three_turns();
    let written = file.compact(Some((4, PivotDirection::From)));
    let turn = file.turn("go on");
    let kept = spoken(&["p0", "c0", "r0", "a0"]);
    let meant = [kept, vec![written.summary], written.attached, turn.to_vec()].concat();
    assert_eq!(file.seen(), meant);
    assert_eq!(file.live()[0].uuid(), written.boundary);
    assert_eq!(file.problems(), []);
}

#[test]
fn p5_segments_nest_over_earlier_boundaries() {
    let mut file = three_turns();
    let first = file.compact(Some((8, PivotDirection::UpTo)));
    let turn = file.turn("between");
    // The view is [boundary, summary, p2, c2, r2, a2, todo, hook, prompt, reply]: keep from the reply of the kept part
    // on.
    let second = file.compact(Some((5, PivotDirection::UpTo)));
    let kept = [spoken(&["a2"]), first.attached, turn.to_vec()].concat();
    let meant = [vec![second.summary], kept.clone(), second.attached.clone()].concat();
    assert_eq!(file.seen(), meant);
    // The next compaction is from a pivot on, over both: the earlier summary is among the kept entries.
    let third = file.compact(Some((3, PivotDirection::From)));
    let meant = [meant[..2].to_vec(), vec![third.summary], third.attached].concat();
    assert_eq!(file.seen(), meant);
    assert_eq!(file.problems(), []);
}

#[test]
fn p5_f10_any_session_compacted_anyhow_reads_back_as_meant() {
    let keeps = [
        Keeps::Nothing,
        Keeps::AfterSummary,
        Keeps::AfterBoundary,
        Keeps::Listed,
    ];
    for seed in 0..8 {
        let spec = SessionSpec::new(seed, 24)
            .with(Feature::Branches)
            .kept(keeps[seed as usize % 4])
            .compaction(When::EveryRounds(10));
        let mut file = SessionFile::new(spec.generate().bytes);
        for step in 0..6_usize {
            let before = file.live();
            let pivot = before.len() * (step + 2) / 9;
            let direction = match (seed as usize + step) % 2 {
                0 => PivotDirection::UpTo,
                _ => PivotDirection::From,
            };
            let pieces: Vec<_> = before.iter().map(|live| live.piece.clone()).collect();
            let scope = longhaul_core::summary::CompactionScope::partial(&pieces, pivot, direction);
            let written = file.compact(Some((pivot, direction)));
            let sent = |live: &&Live| live.piece.part.is_sent();
            let kept: Vec<String> = before[scope.kept]
                .iter()
                .filter(sent)
                .map(Live::uuid)
                .collect();
            let summary = vec![written.summary];
            let meant = match direction {
                PivotDirection::UpTo => [summary, kept, written.attached].concat(),
                PivotDirection::From => [kept, summary, written.attached].concat(),
            };
            assert_eq!(
                file.seen(),
                meant,
                "seed {seed}, step {step}, {direction:?}"
            );
            file.turn("and on");
            assert_eq!(file.problems(), [], "seed {seed}, step {step}");
        }
        let written = file.compact(None);
        assert_eq!(
            file.seen(),
            [vec![written.summary], written.attached].concat()
        );
    }
}

#[test]
fn p5_the_boundary_is_written_as_claude_code_writes_it() {
    let mut file = three_turns();
    file.compact(Some((8, PivotDirection::UpTo)));
    let text = String::from_utf8(file.bytes).unwrap();
    let [boundary, summary, todo, hook] = text.lines().skip(12).collect::<Vec<_>>()[..] else {
        panic!("four lines");
    };
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let mut line = read(boundary);
    let offset: usize = text.lines().take(8).map(|line| line.len() + 1).sum();
    let metadata = line["compactMetadata"].take();
    assert_eq!(
        metadata,
        json!({
            "trigger": "auto", "preTokens": 1000, "messagesSummarized": 8, "viewOffset": offset,
            "preservedSegment": {"headUuid": "p2", "anchorUuid": "summary-2", "tailUuid": "a2"},
            "preservedMessages": {"anchorUuid": "summary-2", "uuids": ["p2", "c2", "r2", "a2"]},
        })
    );
    assert_eq!(
        line,
        json!({
            "parentUuid": null, "logicalParentUuid": "a2", "isSidechain": false, "userType": "external",
            "cwd": "/srv/project", "sessionId": "a-session", "version": "1.2.3", "gitBranch": "main", "type": "system",
            "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false,
            "timestamp": "2026-03-01T12:00:00.500Z", "uuid": "boundary-1", "level": "info", "compactMetadata": null,
        })
    );
    assert!(boundary.starts_with(r#"{"parentUuid":null,"logicalParentUuid":"a2","isSidechain":false,"userType":"external","cwd":"#));
    let summary = read(summary);
    assert_eq!(summary["isCompactSummary"], true);
    assert_eq!(summary["isVisibleInTranscriptOnly"], true);
    assert_eq!(
        summary["message"],
        json!({"role": "user", "content": "the summary"})
    );
    assert_eq!(summary["parentUuid"], "boundary-1");
    assert_eq!(
        (&read(todo)["parentUuid"], &read(hook)["parentUuid"]),
        (&json!("summary-2"), &json!("todo-3"))
    );
    assert_eq!(read(hook)["attachment"]["hookEvent"], "SessionStart");
}

#[test]
fn n3_x6_the_providers_block_stands_between_boundary_and_summary_and_goes_with_an_undo() {
    let mut file = three_turns();
    let message = r#"{"id":"msg_c","role":"assistant","model":"m","content":[ {"type":"compaction","content":"s","signature":"x"}]}"#;
    let message = serde_json::value::RawValue::from_string(message.to_owned()).unwrap();
    let lines = CompactionRecord {
        envelope: envelope(),
        boundary: stamp("b"),
        summary: stamp("s"),
        logical_parent: Some("a2"),
        trigger: CompactionTrigger::Auto,
        pre_tokens: 9,
        messages_summarized: 2,
        user_context: None,
        discovered_tools: &[],
        kept: None,
        thinking_stripped_through: None,
        ledger: None,
        report: None,
        folds: None,
        made: None,
        recompaction: None,
        head_tokens: None,
        signed: Some(SignedReply {
            stamp: stamp("c"),
            message: &message,
        }),
        text: "what is kept",
        attached: &[],
    }
    .lines()
    .unwrap();
    let written = String::from_utf8(lines[1].to_vec()).unwrap();
    assert!(written.contains(message.get()), "byte for byte: {written}");
    let summary: Value = serde_json::from_slice(&lines[2]).unwrap();
    assert_eq!(summary["parentUuid"], "c");
    file.append(&lines);
    let plan = file.undo().unwrap();
    assert!(plan.later.is_empty(), "{:?}", plan.later);
}

#[test]
fn p5_n2_what_else_the_boundary_can_carry() {
    let (ledger, report) = (
        json!({"messages": []}),
        json!({"tokens": {"before": 9, "after": 1}}),
    );
    let value = hook_context("PostCompact", "PostCompact:auto", &["said"]);
    let lines = CompactionRecord {
        envelope: envelope(),
        boundary: stamp("b"),
        summary: stamp("s"),
        logical_parent: None,
        trigger: CompactionTrigger::Manual,
        pre_tokens: 9,
        messages_summarized: 2,
        user_context: Some("only the API"),
        discovered_tools: &["mcp__x__y"],
        kept: None,
        thinking_stripped_through: Some("last"),
        ledger: Some(&ledger),
        report: Some(&report),
        folds: None,
        made: None,
        recompaction: None,
        head_tokens: None,
        signed: None,
        text: "summary \u{2028} \"quoted\"\n",
        attached: &[SummaryAttachment {
            stamp: stamp("h"),
            value: &value,
        }],
    }
    .lines()
    .unwrap();
    let boundary: Value = serde_json::from_slice(&lines[0]).unwrap();
    assert_eq!(
        boundary["compactMetadata"],
        json!({
            "trigger": "manual", "preTokens": 9, "messagesSummarized": 2, "userContext": "only the API",
            "preCompactDiscoveredTools": ["mcp__x__y"], "thinkingStrippedThrough": "last", "ledger": ledger, "report": report,
        })
    );
    assert_eq!(lines.len(), 3);
    let mut file = SessionFile::new(Vec::new());
    file.append(&lines);
    let (table, conversation, ..) = file.read();
    assert_eq!(
        conversation.thinking_stripped_through(&table),
        Some(longhaul_core::message::Id::of("last"))
    );
}

#[test]
fn p5_a_response_with_lines_beside_the_chain_is_kept_whole() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Read", "t1", usage(100));
    lines.call("3", "m1", "Read", "t2", usage(100));
    lines.after("3").result("4", "t2", "two");
    lines.after("2").result("5", "t1", "one");
    lines.reply(
        "6",
        "m2",
        json!([{"type": "text", "text": "done"}]),
        usage(300),
    );
    let mut file = SessionFile::new(format!("{}\n", lines.lines.join("\n")).into_bytes());
    let written = file.compact(Some((4, PivotDirection::UpTo)));
    let meant = [
        vec![written.summary],
        spoken(&["2", "3", "4", "5", "6"]),
        written.attached,
    ]
    .concat();
    assert_eq!(file.seen(), meant);
    let boundary = inspect(&file.bytes).boundaries.pop().unwrap();
    assert_eq!(boundary.preserved, 5);
    // A reader that only knows the two ends can follow the chain from one to the other.
    let text = String::from_utf8(file.bytes).unwrap();
    assert!(text.contains(r#""headUuid":"2","anchorUuid":"summary-2","tailUuid":"6""#));
}

#[test]
fn p5_nothing_that_counts_is_no_segment() {
    let file = three_turns();
    let live = file.live();
    assert_eq!(PreservedPart::of(PreservedAnchor::Summary, []), None);
    let kept = live.iter().map(|live| KeptEntry {
        entry: live.entry.view(),
        offset: live.offset,
    });
    assert_eq!(
        PreservedPart::of(PreservedAnchor::Boundary, kept)
            .unwrap()
            .len(),
        12
    );
}

#[test]
fn u2_a_clearing_is_written_as_claude_code_writes_it() {
    let mut file = three_turns();
    let report = json!({"results": {"cleared": 2}});
    let line = ClearingRecord {
        envelope: envelope(),
        stamp: stamp("clear"),
        parent: Some("a2"),
        trigger: CompactionTrigger::Auto,
        pre_tokens: 500,
        tokens_saved: 40,
        tool_ids: &["t0", "t1"],
        attachments: &[],
        cache_edits: None,
        report: Some(&report),
    }
    .line()
    .unwrap();
    file.append(std::slice::from_ref(&line));
    let written: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(written["content"], "Context microcompacted");
    assert_eq!(
        written["microcompactMetadata"],
        json!({"trigger": "auto", "preTokens": 500, "tokensSaved": 40, "compactedToolIds": ["t0", "t1"],
               "clearedAttachmentUUIDs": [], "report": report})
    );
    let read = inspect(&file.bytes);
    assert_eq!(
        (read.clearings[0].results, read.clearings[0].tokens_saved),
        (2, Some(40))
    );
    // A clearing among the entries that a compaction keeps still counts.
    file.compact(Some((4, PivotDirection::UpTo)));
    assert!(file.live().iter().any(|live| live.uuid() == "clear"));
}

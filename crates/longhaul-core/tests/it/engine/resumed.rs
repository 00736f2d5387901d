//! Tests what a resumed conversation knows from its transcript (Y8), and what the view is derived from.

use std::path::PathBuf;

use bytes::Bytes;
use longhaul_core::cache::CacheMissCause;
use longhaul_core::engine::{CompactRequest, EngineInput, EngineResume, Event, LiveEntry, Pivot};
use longhaul_core::message::{Entry, Id};
use longhaul_core::models::ModelTable;
use longhaul_core::prompt::{
    NewEntryStamp, PrefixReason, PriorRendering, RenderingStart, RequestAssembly, RequestPrefix,
};
use longhaul_core::summary::PivotDirection;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::desk::{Answer, Desk, Setting, head, long};

const MODEL: &str = "claude-opus-4-6";

fn live(lines: impl IntoIterator<Item = Bytes>) -> Vec<LiveEntry> {
    let mut offset = 0;
    let entries = lines.into_iter().map(|line| {
        let at = offset;
        offset += line.len() as u64 + 1;
        LiveEntry {
            entry: Entry::read(line).unwrap(),
            offset: Some(at),
        }
    });
    entries.collect()
}

/// Returns a conversation with these lines.
fn of(lines: &[Value]) -> Desk {
    of_preserved(lines, &[])
}

/// Returns a conversation with these lines, some of which an earlier compaction kept.
fn of_preserved(lines: &[Value], preserved: &[&str]) -> Desk {
    let lines = lines.iter().map(|line| Bytes::from(line.to_string()));
    let resume = EngineResume {
        entries: live(lines),
        preserved: preserved.iter().map(|uuid| Id::of(uuid)).collect(),
        ..EngineResume::default()
    };
    Desk::resumed(Setting::default(), resume)
}

/// Returns a user message with this content.
fn user(uuid: &str, content: Value) -> Value {
    json!({"type": "user", "uuid": uuid, "timestamp": "2026-11-16T10:00:00.000Z",
        "message": {"role": "user", "content": content}})
}

/// Returns a reply that calls a tool on a file.
fn call(uuid: &str, id: &str, tool: &str) -> Value {
    json!({"type": "assistant", "uuid": uuid, "timestamp": "2026-11-16T10:00:00.000Z",
    "message": {"role": "assistant", "model": "m", "content": [
        {"type": "tool_use", "id": id, "name": tool, "input": {"file_path": format!("/p/{id}.rs")}}
    ]}})
}

fn result(uuid: &str, id: &str, content: Value) -> Value {
    user(
        uuid,
        json!([{"type": "tool_result", "tool_use_id": id, "content": content}]),
    )
}

fn attachment(uuid: &str, value: Value) -> Value {
    json!({"type": "attachment", "uuid": uuid, "attachment": value})
}

/// Returns a record of results that the provider is asked to drop from its cache.
fn cache_edits(uuid: &str, calls: &[&str]) -> Value {
    json!({"type": "system", "subtype": "microcompact_boundary", "uuid": uuid,
        "microcompactMetadata": {"trigger": "auto", "cacheEdits": calls}})
}

/// Compacts a conversation, and returns the lines of the new view.
fn compacted() -> Vec<Bytes> {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says("I will.", 3_000));
    desk.exchange("What of it?", Answer::Says(long(), 8_000));
    let before = desk.transcript.len();
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    desk.transcript.split_off(before)
}

#[test]
fn t1_a_resumed_conversation_knows_the_size_of_its_prefix_from_the_boundary() {
    let lines = compacted();
    let counted = |model: &'static str, counted: u64| {
        let lines = lines.iter().map(|line| {
            let mut line: Value = serde_json::from_slice(line).unwrap();
            if line["subtype"] == "compact_boundary" {
                line["compactMetadata"]["headTokens"]["counted"] = counted.into();
            }
            Bytes::from(line.to_string())
        });
        let resume = EngineResume {
            entries: live(lines),
            ..EngineResume::default()
        };
        let setting = Setting {
            model,
            ..Setting::default()
        };
        Desk::resumed(setting, resume).engine.status().used
    };
    assert_eq!(counted(MODEL, 5_000), counted(MODEL, 3_000) + 2_000);
    let other = "claude-sonnet-4-5";
    assert_eq!(
        counted(other, 5_000),
        counted(other, 3_000),
        "another model counts differently"
    );
}

#[test]
fn o4_a_resumed_conversation_knows_the_turn_of_its_last_compaction() {
    let lines = compacted();
    let boundary: Value = serde_json::from_slice(&lines[0]).unwrap();
    let turn = &boundary["compactMetadata"]["recompaction"]["turnId"];
    assert!(turn.is_string(), "{boundary}");
    let resume = EngineResume {
        entries: live(lines),
        ..EngineResume::default()
    };
    let mut desk = Desk::resumed(Setting::default(), resume);
    desk.exchange("Go on.", Answer::Says(long(), 8_000));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let again = &desk.last_compaction().recompaction;
    assert_eq!(again.previous_turn.as_deref(), turn.as_str());
    assert_eq!((again.in_chain, again.turns_since), (true, Some(1)));
}

#[test]
fn r1_only_calls_that_read_files_are_remembered_as_reads() {
    let desk = of(&[
        user("u1", json!("Look.")),
        call("a1", "t1", "Read"),
        result("r1", "t1", json!("fn a() {}")),
        call("a2", "t2", "Write"),
        result("r2", "t2", json!("written")),
    ]);
    let wanted = desk.engine.live().read_files().wanted(&Default::default());
    let wanted: Vec<PathBuf> = wanted.into_iter().map(|file| file.path).collect();
    assert_eq!(wanted, [PathBuf::from("/p/t1.rs")]);
}

#[test]
fn r5_tools_are_discovered_by_what_announces_them_and_by_nothing_else() {
    let other = json!({"type": "mcp_instructions_delta", "addedNames": ["a_server"]});
    let system = json!({"type": "system", "subtype": "informational", "uuid": "s1",
        "compactMetadata": {"preCompactDiscoveredTools": ["not_a_boundary"]}});
    let searched = json!({"type": "assistant", "uuid": "a1", "message": {"role": "assistant",
        "model": "m", "content": [{"type": "tool_search_tool_result", "tool_use_id": "t1",
            "content": {"type": "tool_search_tool_search_result",
                "tool_references": [{"type": "tool_reference", "tool_name": "found"}]}}]}});
    let desk = of(&[
        user("u1", json!("Look.")),
        attachment("x1", other),
        system,
        searched,
        attachment(
            "x2",
            json!({"type": "deferred_tools_delta", "addedNames": ["announced"]}),
        ),
    ]);
    assert_eq!(
        desk.engine.live().discovered_tools(),
        ["found", "announced"]
    );
}

#[test]
fn u4_what_is_dropped_by_reference_stays_until_another_record_says_otherwise() {
    let told =
        json!({"type": "system", "subtype": "informational", "uuid": "s2", "content": "Hi."});
    let lines = [
        user("u1", json!("Look.")),
        cache_edits("s1", &["t1", "t2"]),
        told,
    ];
    assert_eq!(of(&lines).engine.live().cache_edits(), ["t1", "t2"]);
    // A record that was kept through a compaction speaks of requests before it.
    let kept = of_preserved(&lines, &["s1"]);
    assert!(kept.engine.live().cache_edits().is_empty());
}

#[test]
fn y8_the_next_entry_hangs_on_the_newest_one_that_has_a_uuid() {
    let desk = of(&[
        user("u1", json!("Look.")),
        json!({"type": "summary", "summary": "A title.", "leafUuid": "u1"}),
    ]);
    assert_eq!(desk.engine.live().newest(), Some("u1"));
}

#[test]
fn t2_a_result_weighs_what_is_inside_it() {
    let inner = json!([{"type": "text", "text": "x".repeat(4_000)}]);
    let desk = of(&[
        user("u1", json!("Look.")),
        call("a1", "t1", "Read"),
        result("r1", "t1", inner),
        result("r2", "t2", json!("x".repeat(4_000))),
    ]);
    let weights = desk.engine.live().weights();
    let (blocks, plain) = (weights[2].unpadded(), weights[3].unpadded());
    assert!((990..1_050).contains(&blocks), "{blocks}");
    assert!((990..1_050).contains(&plain), "{plain}");
}

#[test]
fn p2_a_prefix_that_waits_for_a_compaction_waits_on_where_the_beginning_is_kept() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 4_200));
    desk.say("What do you know about it?");
    let uuid = desk.engine.live().newest().unwrap().to_owned();
    desk.answers.push_back(Answer::Says(long(), 8_000));
    desk.turn();
    let entries = desk.engine.live().entries().to_vec();
    let binding = ModelTable::builtin().resolve(MODEL).spec.thinking.binding;
    let beginning = RenderingStart {
        before: PriorRendering::None,
        head: head(MODEL),
        reason: PrefixReason::First,
        binding,
    };
    let assembly = RequestAssembly::begin(beginning, desk.engine.live().views());
    let thorough = json!([{"type": "text", "text": "Be thorough."}]);
    let resume = EngineResume {
        entries,
        assembly: Some(assembly),
        next_head: Some(RequestPrefix {
            system: to_raw_value(&thorough).unwrap(),
            ..head(MODEL)
        }),
        ..EngineResume::default()
    };
    let mut desk = Desk::resumed(Setting::default(), resume);
    let system = |desk: &Desk| Desk::body(desk.sent.last().unwrap())["system"].to_string();
    let direction = PivotDirection::From;
    desk.input(EngineInput::Compact(CompactRequest {
        pivot: Some(Pivot { uuid, direction }),
        ..CompactRequest::default()
    }));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    desk.exchange("Go on.", Answer::Says(long(), 8_000));
    assert!(system(&desk).contains("Be brief."), "{}", system(&desk));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 2, "{:?}", desk.failures());
    desk.exchange("And now?", Answer::Says("Fine.", 3_000));
    assert!(system(&desk).contains("Be thorough."), "{}", system(&desk));
}

#[test]
fn d1_an_engine_that_takes_over_explains_a_break_by_the_messages_that_are_not_the_same() {
    for continues in [false, true] {
        let mut desk = Desk::new();
        desk.exchange("Build a parser.", Answer::Says("I will.", 6_000));
        desk.exchange("What of it?", Answer::Says("It is done.", 60_000));
        // The conversation was rewound to its first reply.
        let entries = desk.engine.live().entries()[..2].to_vec();
        let assembly = continues.then(|| {
            let beginning = RenderingStart {
                before: PriorRendering::None,
                head: head(MODEL),
                reason: PrefixReason::First,
                binding: ModelTable::builtin().resolve(MODEL).spec.thinking.binding,
            };
            let views = entries.iter().map(|kept| kept.entry.view());
            let mut assembly = RequestAssembly::begin(beginning, views);
            let lines = assembly
                .entries_before_request(NewEntryStamp {
                    session_id: "s",
                    uuid: "u9",
                    parent: None,
                    timestamp: desk.now,
                })
                .unwrap();
            assembly.persisted(&lines).unwrap();
            assembly
        });
        let resume = EngineResume {
            entries,
            assembly,
            ..EngineResume::default()
        };
        let mut again = Desk::resumed(Setting::default(), resume);
        again.engine.take_over_cache_watch(&mut desk.engine);
        again.now = desk.now;
        again.exchange("Something else.", Answer::Says("Fine.", 3_000));
        let found = again.events.iter().find_map(|event| match event {
            Event::CacheBreak(finding) => Some(&finding.cause),
            _ => None,
        });
        assert!(
            matches!(found, Some(CacheMissCause::Changed(_))),
            "{found:?}"
        );
    }
}

//! Tests what a compaction carries over to the boundary, and what it resets.

use longhaul_core::engine::{CompactRequest, EngineInput, Event, NewEntry};
use longhaul_core::window::QuerySource;
use serde_json::json;

use super::cache_edits::with_edits;
use super::desk::{Answer, Desk, Setting, head, long};

#[test]
fn r5_tools_that_were_discovered_are_on_the_boundary() {
    let mut desk = Desk::new();
    let attachment = |value| EngineInput::Add(vec![NewEntry::Attachment(value)]);
    desk.input(attachment(json!({"type": "deferred_tools_delta",
        "addedNames": ["mcp__a__x", "mcp__a__y"], "addedLines": ["mcp__a__x", "mcp__a__y"]})));
    desk.answers.push_back(Answer::Calls("Read", "t0", 500));
    desk.say("Find a tool.");
    desk.turn();
    let found = json!([{"type": "tool_reference", "tool_name": "mcp__b__z"}]);
    desk.input(EngineInput::Add(vec![NewEntry::ToolResults(vec![
        longhaul_core::engine::ToolOutput {
            tool_use_id: "t0".into(),
            content: found,
            is_error: false,
        },
    ])]));
    desk.input(attachment(
        json!({"type": "deferred_tools_delta", "removedNames": ["mcp__a__y"]}),
    ));
    desk.answers.push_back(Answer::Says(long(), 14_000));
    desk.turn();
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let names = |desk: &Desk| {
        let last = desk.subtypes("compact_boundary").pop().unwrap();
        last["compactMetadata"]["preCompactDiscoveredTools"].clone()
    };
    assert_eq!(names(&desk), json!(["mcp__a__x", "mcp__b__z"]));
    // The next boundary takes them from this one.
    desk.exchange("More.", Answer::Says(long(), 14_000));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(names(&desk), json!(["mcp__a__x", "mcp__b__z"]));
}

#[test]
fn c1_what_belongs_to_the_old_view_is_reset() {
    let mut desk = with_edits();
    desk.answers.push_back(Answer::Says("Done.", 15_000));
    desk.turn();
    assert!(!desk.engine.live().cache_edits().is_empty());
    assert!(!desk.engine.live().results().is_empty());
    let mut other = head("claude-opus-4-6");
    other.user_context = Some("Memory, read again.".into());
    desk.new_head = Some(other);
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1);
    let live = desk.engine.live();
    assert!(live.cache_edits().is_empty(), "pinned edits");
    assert!(live.results().is_empty(), "results that may be cleared");
    assert!(live.cleared().is_empty());
    assert!(
        live.ledger().anchor().is_none(),
        "nothing measured the new view"
    );
    assert!(
        live.read_files().wanted(&Default::default()).is_empty(),
        "files read"
    );
    // A far smaller read than before is not a break, because the detector starts anew.
    desk.exchange("Next.", Answer::Says("Yes.", 100));
    assert!(
        !desk
            .events
            .iter()
            .any(|event| matches!(event, Event::CacheBreak(_)))
    );
    let body = Desk::body(desk.sent.last().unwrap());
    assert_eq!(
        body["messages"][0]["content"][0]["text"],
        "Memory, read again."
    );
    assert_eq!(body["cache_edits"], json!([]));
}

#[test]
fn c2_a_sub_agents_compaction_resets_nothing_of_the_main_thread() {
    let mut main = with_edits();
    main.answers.push_back(Answer::Says("Done.", 15_000));
    main.turn();
    let before = (
        main.engine.status().used,
        main.engine.live().cache_edits().to_vec(),
    );
    let mut agent = Desk::with(Setting {
        source: QuerySource::agent("explore"),
        ..Setting::default()
    });
    agent.fill();
    agent.turn();
    assert_eq!(agent.compactions(), 1);
    // Two engines share nothing: the state of the main thread is unchanged, and its next request continues.
    let after = (
        main.engine.status().used,
        main.engine.live().cache_edits().to_vec(),
    );
    assert_eq!(before, after);
    let last = main.sent.last().unwrap().body.concat();
    main.exchange("Next.", Answer::Says("Yes.", 15_200));
    let next = main.sent.last().unwrap().body.concat();
    let marker = br#","cache_control":{"type":"ephemeral"}"#;
    let shared = last
        .iter()
        .zip(&next)
        .take_while(|(one, other)| one == other)
        .count();
    assert!(next[shared..].len() < 2_000 || last[shared..].starts_with(marker));
    assert!(
        !main
            .events
            .iter()
            .any(|event| matches!(event, Event::CacheBreak(_)))
    );
}

//! Tests the message that replaces the summarized part.

use longhaul_core::summary::Summary;
use longhaul_core::summary::message::{
    CompactionMode, DetailLookup, KeptPlacement, SummaryMessage,
};

use crate::snapshot::check;

fn message(kept: KeptPlacement, mode: CompactionMode) -> String {
    let summary = Summary::new("1. Request and intent: the {path} of things").unwrap();
    SummaryMessage {
        summary: Some(&summary),
        appendix: "What the user said, word for word: …",
        look_up: DetailLookup {
            transcript: Some("/data/session.jsonl"),
            recall_tool: Some("recall"),
        },
        kept,
        mode,
    }
    .text()
}

#[test]
fn f9_the_messages_are_as_they_were() {
    check(
        "message_manual",
        &message(KeptPlacement::Nothing, CompactionMode::Manual),
    );
    check(
        "message_automatic",
        &message(KeptPlacement::Nothing, CompactionMode::Automatic),
    );
    check(
        "message_autonomous",
        &message(KeptPlacement::Nothing, CompactionMode::Autonomous),
    );
    check(
        "message_up_to",
        &message(KeptPlacement::Behind, CompactionMode::Automatic),
    );
    check(
        "message_from",
        &message(KeptPlacement::Before, CompactionMode::Manual),
    );
    assert!(message(KeptPlacement::Behind, CompactionMode::Autonomous).len() < 1_600);
}

#[test]
fn f9_it_says_where_the_session_comes_from_and_where_details_are() {
    let text = message(KeptPlacement::Nothing, CompactionMode::Manual);
    assert!(text.starts_with("This session continues an earlier conversation"));
    for part in [
        "## Summary",
        "the {path} of things",
        "word for word: …",
        "/data/session.jsonl",
        "`recall`",
    ] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn f9_manual_says_nothing_about_going_on_and_autonomous_says_most() {
    let manual = message(KeptPlacement::Nothing, CompactionMode::Manual);
    let automatic = message(KeptPlacement::Nothing, CompactionMode::Automatic);
    let autonomous = message(KeptPlacement::Nothing, CompactionMode::Autonomous);
    assert!(!manual.contains("Go on") && !manual.contains("do not recap"));
    assert!(
        automatic.starts_with(&manual)
            && automatic.contains("do not recap")
            && automatic.contains("do not ask")
    );
    assert!(autonomous.contains("not a first wake-up") && autonomous.contains("work loop"));
}

#[test]
fn n3_behind_the_providers_summary_the_message_does_not_repeat_it() {
    let text = SummaryMessage {
        summary: None,
        appendix: "What the user said, word for word: …",
        look_up: DetailLookup {
            transcript: Some("/data/session.jsonl"),
            recall_tool: Some("recall"),
        },
        kept: KeptPlacement::Behind,
        mode: CompactionMode::Automatic,
    }
    .text();
    check("message_provider", &text);
}

#[test]
fn f9_what_is_not_there_is_not_mentioned() {
    let summary = Summary::new("short").unwrap();
    let text = SummaryMessage {
        summary: Some(&summary),
        appendix: " \n",
        look_up: DetailLookup::default(),
        kept: KeptPlacement::Nothing,
        mode: CompactionMode::Manual,
    }
    .text();
    assert_eq!(text.matches("\n\n").count(), 2, "{text}");
    assert!(!text.contains("file") && !text.contains("tool"));
}

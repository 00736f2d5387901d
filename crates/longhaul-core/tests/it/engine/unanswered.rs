//! Tests which input without a reply a compaction without a model keeps word for word (X9).

use longhaul_core::engine::{
    CompactRequest, EngineInput, Pivot, PrefixRecording, SummarizerSetting,
};
use longhaul_core::summary::PivotDirection;
use serde_json::{Value, json};

use super::desk::{Answer, Desk, Setting, Sum, long};

fn local() -> CompactRequest {
    CompactRequest {
        local: true,
        ..CompactRequest::default()
    }
}

fn compacted(desk: &mut Desk, request: CompactRequest) -> Value {
    desk.input(EngineInput::Compact(request));
    let boundary = desk.subtypes("compact_boundary").pop();
    boundary.unwrap_or_else(|| panic!("{:?}", desk.failures()))
}

/// Whether the boundary names a part that is kept.
fn keeps(boundary: &Value) -> bool {
    boundary["compactMetadata"]["preservedSegment"].is_object()
}

/// Returns a conversation whose newest input has no reply: a result of so many tokens.
fn with_result(setting: Setting, tokens: usize) -> Desk {
    let mut desk = Desk::with(setting);
    desk.exchange("Build a parser.", Answer::Says(long(), 4_200));
    desk.say("Look at it.");
    desk.works("t1", tokens, 4_300);
    desk
}

#[test]
fn x9_a_host_that_keeps_the_conversation_elsewhere_decides_there_what_stays() {
    let mut ours = with_result(Setting::default(), 400);
    assert!(keeps(&compacted(&mut ours, local())));
    let mut theirs = with_result(
        Setting {
            prefixes: PrefixRecording::Unwritten,
            ..Setting::default()
        },
        400,
    );
    assert!(!keeps(&compacted(&mut theirs, local())));
}

#[test]
fn x9_a_pivot_says_what_stays_whatever_has_no_reply() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says("I will.", 1_000));
    desk.say("What do you know?");
    let uuid = desk.engine.live().newest().unwrap().to_owned();
    desk.answers.push_back(Answer::Says(long(), 5_200));
    desk.turn();
    desk.say("And the rest?");
    compacted(
        &mut desk,
        CompactRequest {
            pivot: Some(Pivot {
                uuid,
                direction: PivotDirection::From,
            }),
            ..local()
        },
    );
    desk.turn();
    let sent = Desk::body(desk.sent.last().unwrap());
    let first = &sent["messages"][0]["content"][0]["text"];
    assert_eq!(first, "Build a parser.", "what lies before it stays first");
}

#[test]
fn x9_where_everything_has_a_reply_nothing_is_said_to_follow() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 4_200));
    compacted(&mut desk, local());
    let written = desk.transcript.iter();
    let mut written = written.map(|line| String::from_utf8_lossy(line).into_owned());
    assert!(!written.any(|line| line.contains("The newest messages of that conversation follow")));
}

#[test]
fn x9_a_result_that_would_leave_no_room_for_a_summary_is_not_kept_whole() {
    // The threshold is 13,400, and 800 tokens are for a summary and the user's words.
    for (tokens, whole) in [(9_000, true), (9_450, false)] {
        let mut desk = with_result(Setting::default(), tokens);
        let boundary = compacted(&mut desk, local());
        assert_eq!(keeps(&boundary), whole, "{tokens} {boundary}");
    }
}

#[test]
fn x9_n3_a_signed_summary_alone_is_not_summarized_to_keep_what_follows_it() {
    let mut desk = Desk::with(Setting {
        summarizer: SummarizerSetting::Provider,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 5_000));
    desk.sums.push_back(Sum::Provider(json!([{"type": "compaction",
        "content": "We build a parser. ".repeat(100), "encrypted_content": null, "signature": "sig1"}])));
    compacted(&mut desk, CompactRequest::default());
    desk.say(&"Go on with all of it, and tell me what you find. ".repeat(60));
    desk.input(EngineInput::Compact(local()));
    let boundaries = desk.subtypes("compact_boundary");
    assert!(boundaries.len() == 1 || !keeps(boundaries.last().unwrap()));
}

//! Tests what a failed model is held against, and where a conversation goes on without one (O2, X9).

use longhaul_core::engine::{
    CompactFailure, CompactRequest, EffectFailureKind, EngineInput, Event, Summarizer,
};
use longhaul_core::rounds::MOST_RETRIES;

use super::desk::{Answer, Desk, GOOD, Setting, Sum, long};

/// Fills the window to this many tokens, while the provider cannot be reached.
fn unreachable(used: u64) -> Desk {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 4_000));
    desk.exchange("What do you know?", Answer::Says(long(), used));
    desk.say("Go on.");
    for _ in 0..10 {
        desk.sums.push_back(Sum::Fails(EffectFailureKind::Network));
    }
    desk
}

fn tripped(desk: &Desk) -> usize {
    let events = desk.events.iter();
    events
        .filter(|event| matches!(event, Event::BreakerTripped))
        .count()
}

#[test]
fn x9_a_full_window_is_compacted_without_the_model_and_one_failure_trips_nothing() {
    let mut desk = unreachable(15_500);
    desk.turn();
    assert_eq!(desk.last_compaction().by, Summarizer::Local);
    assert_eq!(tripped(&desk), 0);
}

#[test]
fn x9_a_compaction_by_hand_in_a_full_window_fails_with_its_model() {
    let mut desk = unreachable(15_500);
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::ApiError]);
    assert_eq!(desk.compactions(), 0);
}

#[test]
fn o2_the_third_failure_trips_the_breaker_in_a_full_window_too() {
    let mut desk = unreachable(13_600);
    desk.answers.push_back(Answer::Says("Going on.", 13_700));
    desk.turn();
    desk.say("And?");
    desk.answers.push_back(Answer::Says("Going on.", 15_500));
    desk.turn();
    assert_eq!(desk.failures().len(), 2);
    assert_eq!((tripped(&desk), desk.compactions()), (0, 0));
    desk.say("And now?");
    desk.turn();
    assert_eq!(tripped(&desk), 1);
    assert_eq!(desk.last_compaction().by, Summarizer::Local);
}

#[test]
fn o2_a_compaction_by_hand_that_takes_extracts_is_not_held_against_automatic_ones() {
    let mut desk = unreachable(13_600);
    desk.answers.push_back(Answer::Says("Going on.", 13_700));
    desk.turn();
    desk.say("And?");
    desk.answers.push_back(Answer::Says("Going on.", 13_800));
    desk.turn();
    assert_eq!(desk.failures().len(), 2);
    desk.input(EngineInput::Compact(CompactRequest {
        on_failure: longhaul_core::engine::OnModelFailure::UseExtracts,
        ..CompactRequest::default()
    }));
    assert_eq!(desk.last_compaction().by, Summarizer::Local);
    assert_eq!(tripped(&desk), 0);
}

#[test]
fn l1_a_request_for_a_summary_is_shortened_so_often_and_no_more() {
    let mut desk = Desk::new();
    for _ in 0..12 {
        desk.exchange("Tell me more.", Answer::Says("Here is more of it.", 2_000));
    }
    desk.exchange("And the rest?", Answer::Says(long(), 6_000));
    for _ in 0..20 {
        let too_long = EffectFailureKind::TooLong { gap: Some(10) };
        desk.sums.push_back(Sum::Fails(too_long));
    }
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.summaries_sent.len(), 1 + MOST_RETRIES as usize);
    assert_eq!(desk.failures(), [CompactFailure::PromptTooLong]);
    assert_eq!(desk.last_compaction().by, Summarizer::Local);
}

#[test]
fn f7_another_model_for_summaries_is_asked_plainly_every_time() {
    let mut desk = Desk::with(Setting {
        summary_model: Some("claude-haiku-4-5"),
        ..Setting::default()
    });
    for _ in 0..5 {
        desk.exchange("Tell me more.", Answer::Says("Here is more of it.", 2_000));
    }
    desk.exchange("And the rest?", Answer::Says(long(), 6_000));
    let too_long = EffectFailureKind::TooLong { gap: Some(10) };
    desk.sums.push_back(Sum::Fails(too_long));
    desk.sums.push_back(Sum::Writes(GOOD));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.last_compaction().by, Summarizer::Plain);
    assert_eq!(desk.summaries_sent.len(), 2);
    for request in &desk.summaries_sent {
        let body = Desk::body(request);
        assert_eq!(body["model"], "claude-haiku-4-5");
        assert!(!body["system"].to_string().contains("Be brief."));
    }
}

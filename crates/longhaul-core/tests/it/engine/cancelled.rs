//! Tests calls that are cancelled or cannot be written at each of the points where lines go to disk first (F8, Y7).

use longhaul_core::engine::{
    CallFailure, CallResult, CompactFailure, CompactRequest, EffectFailureKind, EngineInput, Event,
    SummaryTiming,
};

use super::desk::{Answer, Desk, Setting, Sum, long};

/// Returns a conversation whose last call has no result: one is written before any request.
fn with_open_call() -> Desk {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 4_000));
    desk.say("Look at it.");
    desk.answers.push_back(Answer::Calls("Read", "t1", 4_100));
    desk.turn();
    desk
}

fn compact(desk: &mut Desk) {
    desk.input(EngineInput::Compact(CompactRequest::default()));
}

/// Returns the kind of failure that the last call ended with.
fn not_compacted(desk: &Desk) -> CompactFailure {
    match desk.results.last() {
        Some(CallResult::Failed(CallFailure::NotCompacted(kind, _))) => *kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn f8_a_compaction_that_is_cancelled_while_open_calls_are_answered_asks_no_model() {
    let mut desk = with_open_call();
    desk.hold = Some("persist");
    compact(&mut desk);
    desk.input(EngineInput::Cancel);
    desk.release();
    assert_eq!(not_compacted(&desk), CompactFailure::Cancelled);
    assert!(desk.summaries_sent.is_empty());
}

#[test]
fn f8_a_compaction_that_is_cancelled_while_older_lines_are_written_does_not_begin() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 4_000));
    desk.disk_full = true;
    desk.say("Go on.");
    desk.disk_full = false;
    desk.hold = Some("persist");
    compact(&mut desk);
    desk.input(EngineInput::Cancel);
    desk.release();
    assert_eq!(not_compacted(&desk), CompactFailure::Cancelled);
    assert_eq!(desk.compactions(), 0);
}

#[test]
fn f8_a_turn_that_is_cancelled_while_older_lines_are_written_is_not_sent() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says("I will.", 1_000));
    desk.disk_full = true;
    desk.say("Go on.");
    desk.disk_full = false;
    desk.hold = Some("persist");
    desk.turn();
    desk.input(EngineInput::Cancel);
    desk.release();
    assert_eq!(desk.sent.len(), 1);
    assert!(
        matches!(
            desk.results.last(),
            Some(CallResult::Failed(CallFailure::NotAnswered(failed)))
                if failed.kind == EffectFailureKind::Cancelled
        ),
        "{:?}",
        desk.results.last()
    );
}

#[test]
fn y7_a_compaction_by_hand_that_cannot_be_written_fails_as_a_compaction() {
    for hold in ["persist", "archive"] {
        let mut desk = with_open_call();
        // The lines before the request cannot be written, or those of the new view.
        desk.hold = Some(hold);
        compact(&mut desk);
        desk.disk_full = true;
        desk.release();
        assert_eq!(not_compacted(&desk), CompactFailure::NotPersisted, "{hold}");
        assert_eq!(desk.compactions(), 0);
    }
}

#[test]
fn y7_a_turn_whose_compaction_cannot_be_written_fails_because_of_the_disk() {
    let mut desk = Desk::new();
    desk.fill();
    desk.hold = Some("archive");
    desk.turn();
    desk.disk_full = true;
    desk.release();
    assert!(
        matches!(
            desk.results.last(),
            Some(CallResult::Failed(CallFailure::NotPersisted(_)))
        ),
        "{:?}",
        desk.results.last()
    );
}

#[test]
fn f6_a_compaction_by_hand_that_fails_ends_its_call_with_the_reason() {
    let mut desk = Desk::new();
    desk.fill();
    desk.sums.push_back(Sum::Fails(EffectFailureKind::Network));
    compact(&mut desk);
    assert_eq!(not_compacted(&desk), CompactFailure::ApiError);
    assert!(desk.engine.is_idle());
}

#[test]
fn f8_a_summary_that_the_host_stopped_is_not_asked_for_in_another_way() {
    let mut desk = Desk::new();
    desk.fill();
    desk.sums
        .push_back(Sum::Fails(EffectFailureKind::Cancelled));
    compact(&mut desk);
    assert_eq!(not_compacted(&desk), CompactFailure::Cancelled);
    assert_eq!(desk.summaries_sent.len(), 1);
}

#[test]
fn x5_a_preparation_that_fails_leaves_the_conversation_alone_until_the_window_has_grown() {
    let mut desk = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 4_000));
    desk.exchange("Which kind?", Answer::Says("Recursive descent.", 5_000));
    desk.sums.push_back(Sum::Fails(EffectFailureKind::Network));
    desk.exchange("What do you know?", Answer::Says("Much.", 11_000));
    assert_eq!(desk.failures(), [CompactFailure::ApiError]);
    assert_eq!(desk.sent.len(), 3, "nothing is sent because of it");
    let failed = |result: &CallResult| matches!(result, CallResult::Failed(_));
    assert!(!desk.results.iter().any(failed), "nor does any call fail");
    assert!(desk.engine.is_idle());
    desk.exchange("And?", Answer::Says("More.", 11_500));
    assert_eq!(desk.summaries_sent.len(), 1, "it rests");
    desk.exchange("And now?", Answer::Says("Even more.", 11_900));
    assert_eq!(
        desk.summaries_sent.len(),
        2,
        "a twentieth later it does not"
    );
}

#[test]
fn f8_the_status_is_not_repeated_before_half_a_minute_has_passed() {
    let mut desk = Desk::new();
    desk.fill();
    desk.hold = Some("summarize");
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let told = |desk: &Desk| -> Vec<u64> {
        let events = desk.events.iter().filter_map(|event| match event {
            Event::StillCompacting { seconds } => Some(*seconds),
            _ => None,
        });
        events.collect()
    };
    desk.later(29);
    desk.input(EngineInput::Wake);
    assert_eq!(told(&desk), [0; 0]);
    desk.later(6);
    desk.input(EngineInput::Wake);
    assert_eq!(told(&desk), [35]);
    desk.later(29);
    desk.input(EngineInput::Wake);
    assert_eq!(told(&desk), [35]);
}

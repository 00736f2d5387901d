//! Tests what is done once per turn, and what is remembered of a compaction that failed.

use longhaul_core::engine::{
    CallFailure, CallResult, CompactFailure, CompactRequest, EffectFailureKind, EngineInput, Event,
    NotesConfig, Pivot, ReplyDelivery, SummaryTiming,
};
use longhaul_core::notes::NotesSettings;
use longhaul_core::summary::{PivotDirection, SummaryStop};

use super::desk::{Answer, Desk, Setting, Sum, long};

/// Makes summaries use extracts, which keep everything without an answer, so that there is something to summarize
/// again.
fn without_model(desk: &mut Desk) {
    for _ in 0..2 {
        desk.sums
            .push_back(Sum::Fails(EffectFailureKind::Overloaded));
    }
}

#[test]
fn o3_a_reply_that_runs_out_of_room_is_withheld_once_a_turn() {
    let mut desk = Desk::with(Setting {
        delivery: ReplyDelivery::Whole,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 9_000));
    desk.say(&"All of it again, with this in mind. ".repeat(60));
    without_model(&mut desk);
    for _ in 0..3 {
        desk.answers.push_back(Answer::RunsOut("It is", 12_000));
    }
    desk.turn();
    assert_eq!(desk.sent.len(), 1 + 2, "asked for again once");
    assert_eq!(desk.summaries_sent.len(), 1, "{:?}", desk.asked);
    let withheld = desk.events.iter();
    let withheld = withheld.filter(|event| matches!(event, Event::Withheld { .. }));
    assert_eq!(withheld.count(), 1);
    let last = desk.results.last();
    assert!(matches!(last, Some(CallResult::Replied { .. })), "{last:?}");
}

#[test]
fn o3_a_request_that_is_too_long_is_made_smaller_once_a_turn() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 9_000));
    desk.say(&"All of it again, with this in mind. ".repeat(60));
    without_model(&mut desk);
    for _ in 0..3 {
        let kind = EffectFailureKind::TooLong { gap: None };
        desk.answers.push_back(Answer::Fails(kind));
    }
    desk.turn();
    assert_eq!(desk.sent.len(), 1 + 2, "asked for again once");
    assert_eq!(desk.summaries_sent.len(), 1, "{:?}", desk.asked);
    let last = desk.results.last();
    let too_long = matches!(
        last,
        Some(CallResult::Failed(CallFailure::NotAnswered(failed)))
            if matches!(failed.kind, EffectFailureKind::TooLong { .. })
    );
    assert!(too_long, "{last:?}");
}

#[test]
fn o3_what_the_provider_counted_in_a_request_that_it_refused_is_what_the_window_held() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 9_000));
    desk.say("Go on.");
    let kind = EffectFailureKind::TooLong { gap: Some(900) };
    desk.answers.push_back(Answer::Fails(kind));
    desk.turn();
    assert_eq!(desk.last_compaction().pre_tokens, 20_900);
}

#[test]
fn e1_what_is_added_for_open_calls_counts_in_the_view_before_a_compaction() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 4_000));
    desk.say("Look at it.");
    desk.answers.push_back(Answer::Calls("Read", "t1", 4_100));
    desk.turn();
    let open = desk.engine.live().ledger().whole().padded();
    desk.hold = Some("summarize");
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let closed = desk.engine.live().ledger().whole().padded();
    assert!(closed > open, "the call has a result now");
    desk.release();
    assert_eq!(desk.last_compaction().before, closed);
}

#[test]
fn e1_what_was_asked_in_vain_is_told_and_recorded_at_once() {
    let mut desk = Desk::new();
    desk.fill();
    for _ in 0..2 {
        desk.sums.push_back(Sum::Ends(SummaryStop::Finished, "No."));
    }
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::NoSummary]);
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let lost = desk.events.iter().filter_map(|event| match event {
        Event::ReplyLost { usage, .. } => Some(usage.output),
        _ => None,
    });
    assert_eq!(lost.collect::<Vec<_>>(), [2 * 300], "two in vain");
    let booked = desk.last_compaction().usage.as_ref().unwrap().output;
    assert_eq!(booked, 300, "the one that was used");
    let records = desk.transcript.iter().filter_map(|line| {
        let line: serde_json::Value = serde_json::from_slice(line).unwrap();
        (line["type"] == "reply-lost").then(|| line["usage"]["output_tokens"].as_u64())
    });
    assert_eq!(records.collect::<Vec<_>>(), [Some(600)]);
}

#[test]
fn f1_a_summary_alone_is_not_summarized_again_though_the_provider_wants_less() {
    let mut desk = Desk::new();
    desk.fill();
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let kind = EffectFailureKind::TooLong { gap: Some(900) };
    desk.answers.push_back(Answer::Fails(kind));
    desk.turn();
    assert_eq!(desk.summaries_sent.len(), 1, "nothing was said since");
    assert_eq!(desk.compactions(), 1);
}

#[test]
fn p1_up_to_a_pivot_a_summary_alone_is_not_summarized_again() {
    let mut desk = Desk::new();
    desk.fill();
    desk.input(EngineInput::Compact(CompactRequest::default()));
    desk.say("Which kind?");
    let uuid = desk.engine.live().newest().unwrap().to_owned();
    desk.answers
        .push_back(Answer::Says("Recursive descent.", 4_000));
    desk.turn();
    desk.input(EngineInput::Compact(CompactRequest {
        pivot: Some(Pivot {
            uuid,
            direction: PivotDirection::UpTo,
        }),
        ..CompactRequest::default()
    }));
    assert_eq!(desk.failures(), [CompactFailure::NothingNew]);
    assert_eq!(desk.summaries_sent.len(), 1);
}

#[test]
fn x5_no_summary_is_prepared_of_a_summary_alone() {
    let mut desk = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 4_000));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let asked = desk.summaries_sent.len();
    desk.events.clear();
    desk.answers.push_back(Answer::Says(long(), 13_000));
    desk.turn();
    let begun = desk.events.iter();
    let begun = begun.filter(|event| matches!(event, Event::Ahead(_)));
    assert_eq!(begun.count(), 0, "nothing but the summary was sent");
    assert_eq!(desk.summaries_sent.len(), asked);
}

#[test]
fn s2_after_a_compaction_growth_counts_from_what_it_left() {
    let mut desk = Desk::with(Setting {
        notes: Some(NotesConfig {
            settings: NotesSettings::default(),
            path: "/s/session-memory/summary.md".into(),
            edit_tool: Some("Edit".into()),
            reach: None,
        }),
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 9_000));
    assert_eq!(desk.notes_runs.len(), 1);
    desk.input(EngineInput::Compact(CompactRequest {
        local: true,
        ..CompactRequest::default()
    }));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    let left = desk.engine.status().used;
    desk.exchange("Which kind?", Answer::Says(long(), left + 4_000));
    assert_eq!(desk.notes_runs.len(), 2, "{left} were left");
}

//! Tests compactions that fail, and what happens then.

use longhaul_core::engine::{
    CallFailure, CallResult, CompactFailure, CompactRequest, Effect, EffectFailureKind,
    EngineInput, Event, NewEntry, OnModelFailure, Summarizer, ToolOutput,
};
use longhaul_core::summary::SummaryStop;

use super::desk::{Answer, Desk, Sum};

fn by(desk: &Desk) -> Option<Summarizer> {
    desk.events.iter().rev().find_map(|event| match event {
        Event::Compacted(done) => Some(done.by),
        _ => None,
    })
}

#[test]
fn f6_nothing_is_replaced_when_there_is_no_summary() {
    let bad = [
        (
            SummaryStop::Finished,
            "I would rather not.",
            CompactFailure::NoSummary,
        ),
        (
            SummaryStop::Finished,
            "<summary>  </summary>",
            CompactFailure::NoSummary,
        ),
        (SummaryStop::ToolUse, "", CompactFailure::NoSummary),
        (SummaryStop::Refusal, "", CompactFailure::Refused),
        (
            SummaryStop::Finished,
            "API Error: 500",
            CompactFailure::ApiError,
        ),
        (
            SummaryStop::CutOff,
            "<summary>1. Requ",
            CompactFailure::NoSummary,
        ),
    ];
    for (stop, text, kind) in bad {
        let mut desk = Desk::new();
        desk.fill();
        let lines = desk.lines_written();
        for _ in 0..2 {
            desk.sums.push_back(Sum::Ends(stop, text));
        }
        desk.input(EngineInput::Compact(CompactRequest::default()));
        assert_eq!(desk.failures(), [kind], "{text}");
        assert_eq!(desk.lines_written(), lines, "{text}");
        assert_eq!(desk.lost_replies(), 1, "what both cost: {text}");
        assert_eq!(
            desk.summaries_sent.len(),
            2,
            "the fork, then a plain request"
        );
        assert!(matches!(
            desk.events
                .iter()
                .rev()
                .find(|event| matches!(event, Event::Phase(_))),
            Some(Event::Phase(None))
        ));
    }
}

#[test]
fn l1_a_summary_for_which_the_window_had_no_room_is_asked_for_with_less() {
    let mut desk = Desk::new();
    desk.fill();
    desk.sums
        .push_back(Sum::Ends(SummaryStop::WindowFull, "<summary>1. Requ"));
    desk.turn();
    assert_eq!(by(&desk), Some(Summarizer::Fork));
    let retried = |event: &Event| matches!(event, Event::TooLongRetry { attempt: 1, .. });
    assert!(desk.events.iter().any(retried));
    assert_eq!(desk.failures(), []);
}

#[test]
fn y1_what_there_is_of_a_summary_that_was_cut_off_is_completed_with_extracts() {
    let mut desk = Desk::new();
    desk.fill();
    let shorter =
        "<analysis>x</analysis><summary>1. Request and intent\nPort it.\n2. Key concepts\n- Ru";
    let longer = "<summary>1. Request and intent\nPort the parser.\n2. Key concepts\n- Rust\n3. Files and code\n- src/pa";
    for text in [longer, shorter] {
        desk.sums.push_back(Sum::Ends(SummaryStop::CutOff, text));
    }
    desk.turn();
    assert_eq!(by(&desk), Some(Summarizer::Fork), "more came of the fork");
    assert_eq!(desk.failures(), []);
    let told = |event: &Event| matches!(event, Event::SummaryCutOff);
    assert_eq!(desk.events.iter().filter(|event| told(event)).count(), 1);
    let lines = desk
        .transcript
        .iter()
        .map(|line| String::from_utf8_lossy(line));
    let summary = lines
        .into_iter()
        .find(|line| line.contains("Port the parser."));
    let summary = summary.expect("what was paid for is kept");
    assert!(
        summary.contains("The summary was cut off here."),
        "{summary}"
    );
    for title in ["4. Errors and fixes", "9. Next step"] {
        assert!(summary.contains(title), "{title} in {summary}");
    }
}

#[test]
fn f7_a_plain_request_follows_a_fork_that_failed() {
    let mut desk = Desk::new();
    desk.fill();
    desk.sums.push_back(Sum::Ends(SummaryStop::ToolUse, ""));
    desk.turn();
    assert_eq!(by(&desk), Some(Summarizer::Plain));
    let plain = Desk::body(&desk.summaries_sent[1]);
    assert_eq!(plain["max_tokens"], 4_000, "20,000 scaled to the window");
    assert_ne!(
        plain["system"],
        Desk::body(&desk.summaries_sent[0])["system"]
    );
    assert!(!plain.to_string().contains("cache_control"));
}

#[test]
fn f7_a_broken_stream_is_tried_twice_more() {
    let mut desk = Desk::new();
    desk.fill();
    for _ in 0..3 {
        desk.sums
            .push_back(Sum::Fails(EffectFailureKind::Transient));
    }
    desk.turn();
    assert_eq!(
        desk.summaries_sent.len(),
        4,
        "the fork, a plain request, two more"
    );
    assert_eq!(by(&desk), Some(Summarizer::Plain));
}

#[test]
fn o2_an_overloaded_provider_is_not_asked_in_other_ways() {
    let mut desk = Desk::new();
    desk.fill();
    desk.sums
        .push_back(Sum::Fails(EffectFailureKind::Overloaded));
    desk.turn();
    // The client below has already retried five times.
    assert_eq!(desk.summaries_sent.len(), 1);
    assert_eq!(desk.failures(), [CompactFailure::ApiError]);
}

#[test]
fn f8_a_turn_that_is_cancelled_while_something_is_written_is_not_sent() {
    let mut desk = Desk::new();
    desk.input(EngineInput::Add(vec![NewEntry::text("Hello.")]));
    desk.results.clear();
    desk.hold = Some("persist");
    desk.input(EngineInput::Turn);
    desk.input(EngineInput::Cancel);
    desk.release();
    assert!(desk.sent.is_empty());
    assert!(
        matches!(
            &desk.results[..],
            [CallResult::Failed(CallFailure::NotAnswered(failed))]
                if failed.kind == EffectFailureKind::Cancelled
        ),
        "{:?}",
        desk.results
    );
    desk.input(EngineInput::Turn);
    assert_eq!(desk.sent.len(), 1, "the next turn goes its way");
}

#[test]
fn y1_a_compaction_by_hand_takes_extracts_for_a_model_that_failed_where_the_host_wants_that() {
    for (on_failure, made) in [
        (OnModelFailure::Fail, None),
        (OnModelFailure::UseExtracts, Some(Summarizer::Local)),
    ] {
        let mut desk = Desk::new();
        desk.fill();
        desk.sums
            .push_back(Sum::Fails(EffectFailureKind::Overloaded));
        desk.input(EngineInput::Compact(CompactRequest {
            on_failure,
            ..CompactRequest::default()
        }));
        assert_eq!(desk.failures(), [CompactFailure::ApiError]);
        assert_eq!(by(&desk), made, "{on_failure:?}");
    }
}

#[test]
fn f8_a_compaction_that_is_on_disk_is_done_though_its_hooks_are_cancelled() {
    let mut desk = Desk::new();
    desk.fill();
    desk.results.clear();
    desk.hold = Some("PostCompact");
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert!(desk.results.is_empty(), "its hooks are still running");
    desk.input(EngineInput::Cancel);
    desk.release();
    assert!(desk.failures().is_empty());
    assert_eq!(desk.compactions(), 1);
    assert!(
        matches!(desk.results[..], [CallResult::Compacted(_)]),
        "{:?}",
        desk.results
    );
}

#[test]
fn f8_cancelled_at_any_stage_nothing_is_changed() {
    // Once there is a summary, its cost is recorded though nothing comes of it.
    for (stage, paid) in [
        ("PreCompact", 0),
        ("summarize", 0),
        ("gather", 1),
        ("SessionStart", 1),
        ("archive", 1),
    ] {
        let mut desk = Desk::new();
        desk.fill();
        let lines = desk.lines_written();
        desk.hold = Some(stage);
        desk.input(EngineInput::Compact(CompactRequest::default()));
        desk.input(EngineInput::Cancel);
        assert_eq!(desk.failures(), [CompactFailure::Cancelled], "{stage}");
        assert_eq!(desk.lines_written(), lines, "{stage}");
        assert_eq!(desk.lost_replies(), paid, "{stage}");
        desk.release();
        assert_eq!(
            desk.lines_written(),
            lines,
            "a late outcome changes nothing: {stage}"
        );
        assert!(desk.engine.is_idle(), "{stage}");
        desk.turn();
        assert_eq!(
            desk.compactions(),
            1,
            "the next turn compacts as it must: {stage}"
        );
    }
}

#[test]
fn l1_the_oldest_rounds_go_until_the_request_fits() {
    let mut desk = Desk::new();
    for at in 0..8 {
        desk.exchange(
            &format!("Part {at} of the story. ").repeat(90),
            Answer::Says("I see.", 2_000),
        );
    }
    desk.exchange("That is all.", Answer::Says("Good.", 14_000));
    desk.say("Go on.");
    for _ in 0..2 {
        desk.sums
            .push_back(Sum::Fails(EffectFailureKind::TooLong { gap: Some(900) }));
    }
    desk.turn();
    assert_eq!(desk.compactions(), 1);
    let bodies: Vec<String> = desk
        .summaries_sent
        .iter()
        .map(|sent| Desk::body(sent).to_string())
        .collect();
    assert_eq!(bodies.len(), 3);
    assert!(bodies[0].contains("Part 0") && !bodies[1].contains("Part 0"));
    assert!(
        bodies[1].len() > bodies[2].len(),
        "every retry makes progress"
    );
    let retries = desk
        .events
        .iter()
        .filter(|event| matches!(event, Event::TooLongRetry { .. }));
    assert_eq!(retries.count(), 2);
}

#[test]
fn l3_when_nothing_is_left_to_drop_the_conversation_is_summed_up_without_a_model() {
    let mut desk = Desk::new();
    desk.fill();
    for _ in 0..9 {
        desk.sums
            .push_back(Sum::Fails(EffectFailureKind::TooLong { gap: None }));
    }
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::PromptTooLong]);
    assert_eq!(
        by(&desk),
        Some(Summarizer::Local),
        "/compact cannot fail with `too long`"
    );
}

#[test]
fn o2_after_three_failures_no_model_is_asked_and_the_user_is_told_once() {
    let mut desk = Desk::new();
    desk.fill();
    for _ in 0..40 {
        desk.sums.push_back(Sum::Fails(EffectFailureKind::Other));
    }
    desk.answers
        .extend((0..3).map(|_| Answer::Says("Going on.", 14_000)));
    for _ in 0..3 {
        desk.turn();
        desk.say("And?");
    }
    assert_eq!(desk.failures().len(), 3);
    let asked = desk.summaries_sent.len();
    let tripped = || {
        desk.events
            .iter()
            .filter(|event| matches!(event, Event::BreakerTripped))
            .count()
    };
    assert_eq!(tripped(), 1);
    desk.turn();
    assert_eq!(desk.summaries_sent.len(), asked, "no model is asked");
    assert_eq!(by(&desk), Some(Summarizer::Local));
}

#[test]
fn o2_a_cancel_is_not_a_failure() {
    let mut desk = Desk::new();
    desk.fill();
    for _ in 0..3 {
        desk.hold = Some("summarize");
        desk.turn();
        desk.input(EngineInput::Cancel);
        desk.held = None;
    }
    assert!(
        !desk
            .events
            .iter()
            .any(|event| matches!(event, Event::BreakerTripped))
    );
    desk.turn();
    assert_eq!(by(&desk), Some(Summarizer::Fork));
}

#[test]
fn o2_what_fails_by_hand_is_not_held_against_automatic_compaction() {
    let mut desk = Desk::new();
    for _ in 0..4 {
        desk.exchange(
            "What do you know?",
            Answer::Says(super::desk::long(), 5_000),
        );
        desk.sums
            .push_back(Sum::Fails(EffectFailureKind::Overloaded));
        desk.input(EngineInput::Compact(CompactRequest {
            on_failure: OnModelFailure::UseExtracts,
            ..CompactRequest::default()
        }));
    }
    assert_eq!(desk.failures(), [CompactFailure::ApiError; 4]);
    let tripped = |event: &Event| matches!(event, Event::BreakerTripped);
    assert!(!desk.events.iter().any(tripped));
}

#[test]
fn r1_a_file_whose_reading_failed_is_not_restored() {
    let mut desk = Desk::new();
    desk.exchange(
        "What do you know?",
        Answer::Says(super::desk::long(), 5_000),
    );
    desk.say("Read them.");
    desk.works("good", 10, 5_100);
    desk.answers.push_back(Answer::Calls("Read", "bad", 5_200));
    desk.turn();
    desk.input(EngineInput::Add(vec![NewEntry::ToolResults(vec![
        ToolOutput {
            tool_use_id: "bad".into(),
            content: "No such file.".into(),
            is_error: true,
        },
    ])]));
    desk.answers.push_back(Answer::Says("I see.", 5_300));
    desk.turn();
    desk.hold = Some("gather");
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let Some(Effect::Gather { files, .. }) = &desk.held else {
        panic!("nothing was gathered: {:?}", desk.asked);
    };
    let paths: Vec<&str> = files.iter().filter_map(|file| file.path.to_str()).collect();
    assert_eq!(paths, ["/p/good.rs"]);
}

#[test]
fn o2_one_failure_leaves_the_turn_to_go_on() {
    let mut desk = Desk::new();
    desk.fill();
    for _ in 0..2 {
        desk.sums.push_back(Sum::Fails(EffectFailureKind::Other));
    }
    desk.turn();
    assert_eq!(desk.sent.len(), 3, "there is still room");
    assert_eq!(desk.failures(), [CompactFailure::ApiError]);
}

#[test]
fn y7_a_compaction_that_cannot_be_written_did_not_happen() {
    let mut desk = Desk::new();
    desk.fill();
    desk.hold = Some("archive");
    desk.input(EngineInput::Compact(CompactRequest::default()));
    desk.disk_full = true;
    desk.release();
    assert_eq!(desk.failures(), [CompactFailure::NotPersisted]);
    desk.disk_full = false;
    desk.turn();
    assert_eq!(desk.compactions(), 1);
}

#[test]
fn y8_what_could_not_be_written_goes_before_a_compaction_by_hand() {
    let mut desk = Desk::new();
    desk.fill();
    desk.disk_full = true;
    desk.say("Mind the gap.");
    desk.disk_full = false;
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let texts: Vec<String> = desk
        .transcript
        .iter()
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let said = texts.iter().position(|line| line.contains("Mind the gap."));
    let boundary = texts
        .iter()
        .position(|line| line.contains("compact_boundary"));
    assert!(said.unwrap() < boundary.unwrap());
}

#[test]
fn y8_a_compaction_by_hand_waits_until_the_disk_takes_what_was_said() {
    let mut desk = Desk::new();
    desk.fill();
    desk.disk_full = true;
    desk.say("Mind the gap.");
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::NotPersisted]);
    assert_eq!(desk.summaries_sent.len(), 0);
    desk.disk_full = false;
    desk.turn();
    let heard = |request: &longhaul_core::engine::ModelRequest| {
        Desk::body(request).to_string().contains("Mind the gap.")
    };
    assert!(desk.sent.iter().chain(&desk.summaries_sent).any(heard));
}

#[test]
fn z2_open_calls_are_answered_in_every_request_for_a_summary() {
    for fork_fails in [false, true] {
        let mut desk = Desk::new();
        desk.exchange(
            "What do you know about it?",
            Answer::Says(super::desk::long(), 900),
        );
        desk.exchange("Go on.", Answer::Calls("Read", "toolu_1", 900));
        desk.say("Never mind.");
        if fork_fails {
            desk.sums.push_back(Sum::Fails(EffectFailureKind::Other));
        }
        desk.input(EngineInput::Compact(CompactRequest::default()));
        for request in &desk.summaries_sent {
            let body = Desk::body(request).to_string();
            assert!(body.contains(r#""tool_use_id":"toolu_1""#), "{body}");
        }
        assert!(desk.compactions() > 0);
    }
}

//! Tests summaries that are prepared while the conversation continues (X5).

use longhaul_core::engine::{
    CompactFailure, CompactRequest, EffectFailureKind, EngineInput, Event, HookOutcome, NewEntry,
    PreparationEvent, Summarizer, SummaryTiming,
};

use super::desk::{Answer, Desk, Setting, Sum, long};

/// Returns a conversation that will soon reach its threshold of 13,400.
fn soon() -> Desk {
    let mut desk = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        ..Setting::default()
    });
    desk.exchange(
        "Build a parser. Never use regexes.",
        Answer::Says(long(), 4_000),
    );
    desk.exchange("Which kind?", Answer::Says("Recursive descent.", 5_000));
    desk.exchange("Fine.", Answer::Says("Good.", 6_000));
    desk.aside = Some("summarize");
    desk
}

fn aheads(desk: &Desk) -> Vec<PreparationEvent> {
    let events = desk.events.iter().filter_map(|event| match event {
        Event::Ahead(ahead) => Some(*ahead),
        _ => None,
    });
    events.collect()
}

#[test]
fn x5_the_summary_is_asked_for_before_the_threshold_and_turns_go_on() {
    let mut desk = soon();
    desk.exchange("What do you know about it?", Answer::Says("Much.", 11_000));
    assert_eq!(aheads(&desk), [PreparationEvent::Begun]);
    assert_eq!(desk.set_aside.len(), 1);
    desk.exchange("And?", Answer::Says("More.", 12_000));
    desk.exchange("And now?", Answer::Says("Even more.", 13_500));
    desk.exchange("So?", Answer::Says("So.", 13_600));
    assert_eq!(
        desk.compactions(),
        0,
        "the threshold is reached, but there is room"
    );
    assert_eq!(desk.sent.len(), 7);
    desk.catch_up();
    assert_eq!(
        aheads(&desk),
        [PreparationEvent::Begun, PreparationEvent::Ready]
    );
    desk.exchange("Go on.", Answer::Says("Yes.", 3_000));
    let done = desk.last_compaction();
    assert_eq!((done.by, done.waited), (Summarizer::Fork, 0));
    let sent = Desk::body(&desk.sent[7]).to_string();
    for kept in ["And?", "And now?", "So?", "Go on."] {
        assert!(
            sent.contains(kept),
            "what came meanwhile is kept word for word"
        );
    }
    assert!(sent.contains("1. Request: build a parser."));
    assert!(sent.contains("Never use regexes."));
}

#[test]
fn x5_the_request_reads_what_was_sent_to_the_byte() {
    let mut desk = soon();
    desk.aside = None;
    desk.exchange("What do you know about it?", Answer::Says("Much.", 11_000));
    let parent = String::from_utf8(desk.sent[3].body.concat()).unwrap();
    let parent = parent.strip_suffix("]}]}").unwrap();
    let fork = String::from_utf8(desk.summaries_sent[0].body.concat()).unwrap();
    assert_eq!(&fork[..parent.len()], parent);
}

#[test]
fn x5_a_compaction_in_between_says_nothing_about_how_fast_the_window_fills() {
    let mut desk = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 9_000));
    let grows = |desk: &mut Desk, prompts: &[u64]| {
        for prompt in prompts {
            desk.exchange("Go on.", Answer::Says("Fine.", *prompt));
        }
    };
    let pace = [9_200, 9_400, 9_600, 9_800, 10_000, 10_200, 10_400, 10_600];
    grows(&mut desk, &pace);
    // The compaction is manual and the summary takes 40 seconds: eight turns of 200 tokens and two more make a lead of
    // 2,000.
    desk.hold = Some("summarize");
    desk.input(EngineInput::Compact(CompactRequest::default()));
    desk.later(40);
    desk.release();
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    grows(&mut desk, &[10_400, 10_600, 10_800, 11_000, 11_200]);
    assert_eq!(aheads(&desk), [], "the threshold of 13,400 is too far");
    grows(&mut desk, &[11_400]);
    assert_eq!(
        aheads(&desk),
        [PreparationEvent::Begun, PreparationEvent::Ready]
    );
}

#[test]
fn x5_what_is_ready_waits_for_the_threshold() {
    let mut desk = soon();
    desk.aside = None;
    desk.exchange("What do you know about it?", Answer::Says("Much.", 11_000));
    assert_eq!(
        aheads(&desk),
        [PreparationEvent::Begun, PreparationEvent::Ready]
    );
    desk.exchange("And?", Answer::Says("More.", 12_000));
    assert_eq!(desk.compactions(), 0);
    desk.exchange("And now?", Answer::Says("Even more.", 13_500));
    desk.exchange("So?", Answer::Says("So.", 3_500));
    assert_eq!(desk.compactions(), 1);
    assert_eq!(desk.summaries_sent.len(), 1);
}

#[test]
fn x5_a_session_that_outruns_its_summary_waits_for_it() {
    let mut desk = soon();
    desk.exchange("What do you know about it?", Answer::Says("Much.", 11_000));
    desk.exchange("And?", Answer::Says("More.", 15_400));
    desk.say("Go on.");
    desk.turn();
    assert_eq!(desk.sent.len(), 5, "there is no room: it waits");
    assert!(!desk.engine.is_idle());
    desk.later(7);
    desk.catch_up();
    assert_eq!(desk.sent.len(), 6);
    assert_eq!(desk.last_compaction().waited, 7_000);
    assert_eq!(desk.summaries_sent.len(), 1, "it was not asked for twice");
}

#[test]
fn x5_a_summary_of_a_view_that_is_gone_is_dropped() {
    let mut desk = soon();
    desk.exchange("What do you know about it?", Answer::Says("Much.", 11_000));
    desk.aside = None;
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1);
    assert_eq!(
        aheads(&desk),
        [PreparationEvent::Begun, PreparationEvent::Dropped]
    );
    assert!(desk.asked.contains(&"cancel".to_owned()));
    let entries = desk.engine.live().entries().len();
    desk.catch_up();
    assert_eq!(
        desk.engine.live().entries().len(),
        entries,
        "what it brings is not used"
    );
    desk.exchange("Go on.", Answer::Says("Yes.", 3_000));
    assert_eq!(desk.compactions(), 1);
}

#[test]
fn x5_too_much_behind_the_summary_makes_it_useless() {
    let mut desk = soon();
    desk.aside = None;
    desk.exchange("What do you know about it?", Answer::Says("Much.", 11_000));
    assert_eq!(
        aheads(&desk),
        [PreparationEvent::Begun, PreparationEvent::Ready]
    );
    let pasted = "word ".repeat(12_000);
    desk.input(EngineInput::Add(vec![NewEntry::text(pasted.clone())]));
    desk.answers.push_back(Answer::Says("I see.", 5_000));
    desk.turn();
    assert_eq!(aheads(&desk).last(), Some(&PreparationEvent::Dropped));
    assert_eq!(desk.compactions(), 1);
    assert_eq!(desk.summaries_sent.len(), 2, "everything was summed up");
}

#[test]
fn x5_a_failure_ahead_is_told_and_the_threshold_tries_again() {
    let mut desk = soon();
    desk.aside = None;
    for _ in 0..4 {
        desk.sums
            .push_back(Sum::Fails(EffectFailureKind::Transient));
    }
    desk.exchange("What do you know about it?", Answer::Says("Much.", 11_000));
    assert_eq!(desk.failures(), [CompactFailure::ApiError]);
    desk.exchange("And?", Answer::Says("More.", 11_500));
    assert_eq!(desk.summaries_sent.len(), 4, "not at once");
    desk.exchange("And now?", Answer::Says("Even more.", 13_500));
    desk.exchange("So?", Answer::Says("So.", 3_500));
    assert_eq!(desk.compactions(), 1);
}

#[test]
fn k1_a_hook_may_block_it_and_is_asked_once() {
    let mut desk = soon();
    desk.aside = None;
    desk.exchange("What do you know about it?", Answer::Says("Much.", 11_000));
    desk.exchange("And?", Answer::Says("More.", 13_500));
    desk.exchange("So?", Answer::Says("So.", 3_500));
    let asked = desk
        .asked
        .iter()
        .filter(|name| name.starts_with("PreCompact"));
    assert_eq!(asked.count(), 1);
    let mut desk = soon();
    desk.aside = None;
    desk.pre_compact = HookOutcome {
        blocked: Some("not now".into()),
        ..HookOutcome::default()
    };
    desk.exchange("What do you know about it?", Answer::Says("Much.", 11_000));
    assert_eq!(desk.failures(), [CompactFailure::Blocked]);
    assert!(desk.summaries_sent.is_empty());
}

#[test]
fn x5_open_calls_are_kept_with_their_results() {
    let mut desk = soon();
    desk.say("Read it.");
    desk.works("t1", 2_000, 10_500);
    assert_eq!(aheads(&desk), [PreparationEvent::Begun]);
    desk.works("t2", 1_000, 12_900);
    desk.catch_up();
    desk.works("t3", 100, 3_500);
    desk.works("t4", 100, 3_700);
    assert_eq!(desk.compactions(), 1);
    let body = Desk::body(desk.sent.last().unwrap());
    let messages = body["messages"].as_array().unwrap();
    let count = |kind: &str| {
        let blocks = messages
            .iter()
            .filter_map(|message| message["content"].as_array())
            .flatten();
        blocks.filter(|block| block["type"] == kind).count()
    };
    assert_eq!(count("tool_use"), count("tool_result"));
    assert!(count("tool_use") >= 3);
}

#[test]
fn x5_when_nothing_was_prepared_it_begins_at_the_threshold_and_the_turn_goes_on() {
    let mut desk = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says("I will.", 1_000));
    desk.exchange("Which kind?", Answer::Says("Recursive.", 1_100));
    desk.exchange("Fine.", Answer::Says("Good.", 1_200));
    desk.aside = Some("summarize");
    let pasted = "word ".repeat(7_500);
    desk.say(&pasted);
    desk.answers.push_back(Answer::Says("I see.", 13_800));
    desk.turn();
    desk.exchange("And?", Answer::Says("Well.", 13_900));
    assert_eq!(desk.compactions(), 0);
    assert_eq!(aheads(&desk), [PreparationEvent::Begun]);
    assert_eq!(desk.sent.len(), 5);
    desk.catch_up();
    desk.exchange("So?", Answer::Says("So.", 3_500));
    assert_eq!(desk.compactions(), 1);
}

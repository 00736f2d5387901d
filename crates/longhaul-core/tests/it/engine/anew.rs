//! Tests what starts anew with a compaction, a clearing or a compaction that replaces another, and what does not.

use longhaul_core::engine::{
    CacheEditSupport, CompactRequest, EffectFailureKind, EngineInput, Event, HostState, Pivot,
    PreparationEvent, SummaryTiming,
};
use longhaul_core::message::Entry;
use longhaul_core::micro::MicroClearingReason;
use longhaul_core::models::ModelTable;
use longhaul_core::prompt::{
    NewEntryStamp, PrefixReason, PriorRendering, RenderingStart, RequestAssembly, RequestKind,
    RequestNotReady, RequestPrefix,
};
use longhaul_core::summary::PivotDirection;
use longhaul_core::window::QuerySource;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::desk::{Answer, Desk, Setting, head, long};

const MODEL: &str = "claude-opus-4-6";

fn breaks(desk: &Desk) -> usize {
    let events = desk.events.iter();
    events
        .filter(|event| matches!(event, Event::CacheBreak(_)))
        .count()
}

fn large() -> Setting {
    Setting {
        window: 200_000,
        ..Setting::default()
    }
}

/// Returns a request prefix whose system prompt is this text.
fn saying(text: &str) -> RequestPrefix {
    RequestPrefix {
        system: to_raw_value(&json!([{"type": "text", "text": text}])).unwrap(),
        ..head(MODEL)
    }
}

#[test]
fn d4_what_is_cleared_after_a_rest_is_no_cache_break() {
    let mut desk = Desk::with(large());
    desk.say("Read them.");
    for id in ["t0", "t1", "t2", "t3", "t4", "t5", "t6"] {
        desk.works(id, 2_000, 30_000);
    }
    desk.answers.push_back(Answer::Says("Done.", 30_000));
    desk.turn();
    desk.later(3_700);
    desk.exchange("Back again.", Answer::Says("Welcome.", 3_000));
    assert_eq!(desk.subtypes("microcompact_boundary").len(), 1);
    assert_eq!(breaks(&desk), 0, "it is planned, and recorded");
}

#[test]
fn d4_what_the_provider_clears_by_itself_is_no_cache_break() {
    let mut desk = Desk::with(large());
    desk.exchange("Hello.", Answer::Says("Hi.", 60_000));
    desk.exchange("Go on.", Answer::Cleared(5, 40_000, 20_000));
    assert_eq!(breaks(&desk), 0);
    desk.exchange("And now?", Answer::Cleared(5, 40_000, 5_000));
    assert_eq!(
        breaks(&desk),
        1,
        "nothing more was cleared, and less was read"
    );
}

#[test]
fn c1_the_host_is_told_what_it_resets_and_a_sub_agent_leaves_approvals_alone() {
    let reset_by = |source: QuerySource| {
        let mut desk = Desk::with(Setting {
            source,
            ..Setting::default()
        });
        desk.exchange("Build a parser.", Answer::Says(long(), 5_000));
        desk.input(EngineInput::Compact(CompactRequest::default()));
        desk.last_compaction().reset.clone()
    };
    for main in [QuerySource::MAIN, QuerySource::SDK] {
        let reset = reset_by(main);
        assert!(reset.includes(HostState::FileContents));
        assert!(reset.includes(HostState::Approvals));
    }
    let reset = reset_by(QuerySource::agent("explore"));
    assert!(reset.includes(HostState::FileContents));
    assert!(
        !reset.includes(HostState::Approvals),
        "those are the main thread's"
    );
}

#[test]
fn c1_what_the_provider_clears_after_a_compaction_is_told_though_it_is_as_much_as_before() {
    let mut desk = Desk::new();
    let told = |desk: &Desk| {
        let events = desk.events.iter();
        events
            .filter(|event| matches!(event, Event::NativeCleared { .. }))
            .count()
    };
    desk.exchange("Build a parser.", Answer::Says(long(), 5_000));
    desk.exchange("Go on.", Answer::Cleared(2, 500, 5_000));
    desk.exchange("And now?", Answer::Cleared(2, 500, 5_100));
    assert_eq!(told(&desk), 1, "it is the same");
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    desk.exchange("Well?", Answer::Cleared(2, 500, 2_000));
    assert_eq!(told(&desk), 2);
}

#[test]
fn c1_a_deletion_that_no_reply_measured_is_not_told_after_a_compaction() {
    let mut desk = Desk::with(Setting {
        cache_edits: CacheEditSupport::Supported,
        ..large()
    });
    desk.say("Read them.");
    for id in [
        "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11",
    ] {
        desk.works(id, 500, 30_000);
    }
    desk.answers
        .push_back(Answer::Fails(EffectFailureKind::Other));
    desk.turn();
    assert_eq!(desk.subtypes("microcompact_boundary").len(), 1);
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    desk.exchange("Well?", Answer::Says("Fine.", 2_000));
    let freed = desk.events.iter().any(|event| {
        matches!(
            event,
            Event::MicroCompacted {
                reason: MicroClearingReason::Cached,
                ..
            }
        )
    });
    assert!(!freed, "the results are gone from the view");
}

#[test]
fn p2_a_compaction_from_a_pivot_on_keeps_the_head_and_another_takes_the_new_one() {
    for (direction, kept) in [(PivotDirection::From, true), (PivotDirection::UpTo, false)] {
        let mut desk = Desk::new();
        desk.exchange("Build a parser.", Answer::Says(long(), 4_200));
        desk.say("What do you know about it?");
        let uuid = desk.engine.live().newest().unwrap().to_owned();
        desk.answers.push_back(Answer::Says(long(), 8_000));
        desk.turn();
        desk.new_head = Some(saying("Be thorough."));
        let pivot = Some(Pivot { uuid, direction });
        desk.input(EngineInput::Compact(CompactRequest {
            pivot,
            ..CompactRequest::default()
        }));
        assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
        desk.exchange("Go on.", Answer::Says("Yes.", 5_000));
        let system = Desk::body(desk.sent.last().unwrap())["system"].to_string();
        assert_eq!(
            system.contains("Be brief."),
            kept,
            "{direction:?}: {system}"
        );
        assert_eq!(system.contains("Be thorough."), !kept, "{direction:?}");
    }
}

/// Returns a conversation whose summary is being prepared.
fn preparing() -> Desk {
    let mut desk = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 4_000));
    desk.exchange("Which kind?", Answer::Says("Recursive descent.", 5_000));
    desk.aside = Some("summarize");
    desk.exchange("What do you know?", Answer::Says("Much.", 11_000));
    assert_eq!(desk.set_aside.len(), 1);
    desk
}

#[test]
fn x5_f8_the_status_is_repeated_half_a_minute_after_the_turn_began_to_wait() {
    let mut desk = preparing();
    desk.exchange("And?", Answer::Says("More.", 15_400));
    desk.later(20);
    desk.say("Go on.");
    desk.turn();
    let wait = desk.engine.deadline().unwrap().duration_since(desk.now);
    assert_eq!(wait.as_secs(), 30);
}

#[test]
fn x5_a_compaction_by_hand_gives_up_what_is_being_prepared_before_it_begins() {
    let mut desk = preparing();
    desk.hold = Some("PreCompact manual");
    desk.asked.clear();
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.asked, ["cancel", "PreCompact manual"]);
}

#[test]
fn x5_y1_after_a_compaction_nothing_is_prepared_before_the_window_has_grown_by_a_tenth() {
    let mut desk = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        ..Setting::default()
    });
    // The provider counts the same: 8,000 tokens come before the messages.
    let head = saying(&"h".repeat(24_000));
    desk.engine
        .handle(EngineInput::Head(Box::new(head)), desk.now);
    desk.run();
    desk.exchange("Build a parser.", Answer::Says(long(), 11_500));
    desk.aside = Some("summarize");
    desk.events.clear();
    desk.input(EngineInput::Compact(CompactRequest {
        local: true,
        ..CompactRequest::default()
    }));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    let used = desk.engine.status().used;
    desk.events.clear();
    let begun = |desk: &Desk| {
        let mut events = desk.events.iter();
        events.any(|event| matches!(event, Event::Ahead(PreparationEvent::Begun)))
    };
    desk.exchange("Go on.", Answer::Says("Fine.", used + 1_500));
    assert!(!begun(&desk), "{used}");
    desk.exchange("And now?", Answer::Says("Fine.", used + 3_000));
    assert!(begun(&desk), "{used}");
}

#[test]
fn m7_no_request_goes_out_before_its_head_is_on_disk() {
    let line = json!({"uuid": "u1", "type": "user", "message": {"role": "user", "content": "Hi."}});
    let entry = Entry::read(line.to_string().into()).unwrap();
    let spec = ModelTable::builtin().resolve(MODEL).spec;
    let beginning = RenderingStart {
        before: PriorRendering::None,
        head: head(MODEL),
        reason: PrefixReason::First,
        binding: spec.thinking.binding,
    };
    let mut assembly = RequestAssembly::begin(beginning, [entry.view()].into_iter());
    assert!(matches!(
        assembly.request(RequestKind::Main, None),
        Err(RequestNotReady::NotPersisted)
    ));
    let lines = assembly.entries_before_request(NewEntryStamp {
        session_id: "s",
        uuid: "u2",
        parent: Some("u1"),
        timestamp: Desk::new().now,
    });
    assembly.persisted(&lines.unwrap()).unwrap();
    assert!(assembly.request(RequestKind::Main, None).is_ok());
}

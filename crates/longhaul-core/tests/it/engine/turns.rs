//! Tests the course of a turn.

use longhaul_core::engine::{
    CompactFailure, CompactRequest, Effect, EffectFailureKind, EngineInput, Event, NewEntry, Pivot,
};
use longhaul_core::summary::PivotDirection;
use longhaul_core::window::{Switches, WindowOwner};
use serde_json::Value;

use super::desk::{Answer, Desk, Setting, failed};

#[test]
fn m7_everything_that_shapes_a_request_is_on_disk_before_it_is_sent() {
    let mut desk = Desk::new();
    desk.exchange("Hello.", Answer::Says("Hi.", 100));
    assert_eq!(desk.asked, ["persist", "persist", "send", "persist"]);
    let kinds: Vec<String> = desk
        .transcript
        .iter()
        .map(|line| {
            serde_json::from_slice::<serde_json::Value>(line).unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(kinds, ["user", "request-head", "assistant"]);
}

#[test]
fn m7_calls_that_nothing_answered_are_answered_on_disk_before_the_next_request() {
    let mut desk = Desk::new();
    desk.exchange("Hello.", Answer::Calls("Read", "toolu_1", 100));
    desk.exchange("Never mind.", Answer::Says("All right.", 200));
    let body = Desk::body(&desk.sent[1]);
    let result = &body["messages"][2]["content"][0];
    assert_eq!(result["tool_use_id"], "toolu_1");
    assert_eq!(result["is_error"], true);
    let on_disk = desk.transcript.iter().any(|line| {
        let line = String::from_utf8_lossy(line);
        line.contains("tool_result") && line.contains("toolu_1")
    });
    assert!(on_disk);
}

#[test]
fn m7_every_entry_knows_where_its_line_begins() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(super::desk::long(), 4_000));
    desk.exchange("Look at it.", Answer::Calls("Read", "toolu_1", 4_100));
    desk.exchange("Never mind.", Answer::Says("All right.", 4_200));
    let uuid = desk.engine.live().newest().unwrap().to_owned();
    desk.say("And now?");
    let direction = PivotDirection::UpTo;
    desk.input(EngineInput::Compact(CompactRequest {
        pivot: Some(Pivot { uuid, direction }),
        ..CompactRequest::default()
    }));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    desk.turn();
    desk.exchange("Go on.", Answer::Calls("Read", "toolu_2", 2_000));
    desk.exchange("Never mind.", Answer::Says("All right.", 2_100));
    desk.input(EngineInput::Add(vec![
        NewEntry::text("One more."),
        NewEntry::text("And another."),
    ]));
    let file = desk.transcript.join(&b'\n');
    for kept in desk.engine.live().entries() {
        let from = kept.offset.unwrap() as usize;
        let line = kept.entry.view().line;
        assert!(file[from..].starts_with(line), "{from}");
    }
}

#[test]
fn f8_the_late_answer_to_a_request_that_was_cancelled_is_not_taken_for_the_next() {
    let mut desk = Desk::new();
    desk.say("Hello.");
    desk.hold = Some("send");
    desk.turn();
    let Some(Effect::Send { id, .. }) = desk.held.take() else {
        panic!("nothing was sent: {:?}", desk.asked);
    };
    desk.input(EngineInput::Cancel);
    desk.hold = Some("send");
    desk.turn();
    let told = desk.results.len();
    let outcome = failed(EffectFailureKind::Other);
    desk.input(EngineInput::Done { id, outcome });
    assert!(!desk.engine.is_idle(), "it still waits for its own answer");
    assert_eq!(desk.results.len(), told);
    desk.release();
    assert!(desk.engine.is_idle());
}

#[test]
fn m1_only_a_result_that_is_an_error_says_so() {
    let mut desk = Desk::new();
    desk.say("Read it.");
    desk.works("toolu_1", 10, 100);
    desk.turn();
    let body = Desk::body(&desk.sent[1]);
    let result = &body["messages"][2]["content"][0];
    assert_eq!(result["tool_use_id"], "toolu_1");
    assert_eq!(result.get("is_error"), None);
}

#[test]
fn n3_u4_a_request_names_no_beta_that_nothing_needs() {
    let mut desk = Desk::new();
    desk.exchange("Hello.", Answer::Says("Hi.", 100));
    let betas = &desk.sent[0].betas;
    let unneeded = |beta: &String| beta.contains("compact") || beta.contains("cache-edits");
    assert!(!betas.iter().any(unneeded), "{betas:?}");
}

#[test]
fn b1_what_was_sent_is_sent_again_byte_for_byte() {
    let mut desk = Desk::new();
    desk.exchange("One.", Answer::Says("First.", 100));
    desk.exchange("Two.", Answer::Says("Second.", 200));
    let [one, two] = [0, 1].map(|at| String::from_utf8(desk.sent[at].body.concat()).unwrap());
    let marker = r#","cache_control":{"type":"ephemeral"}"#;
    let end = one.rfind(marker).unwrap();
    assert_eq!(one[..end], two[..end]);
}

#[test]
fn y7_nothing_is_sent_while_the_transcript_cannot_be_written_and_nothing_is_lost() {
    let mut desk = Desk::new();
    desk.exchange("One.", Answer::Says("First.", 100));
    desk.disk_full = true;
    desk.say("Two.");
    desk.turn();
    assert_eq!(desk.sent.len(), 1);
    assert!(
        desk.events
            .iter()
            .any(|event| matches!(event, Event::NotPersisted { .. }))
    );
    desk.disk_full = false;
    desk.turn();
    assert_eq!(desk.sent.len(), 2);
    let body = Desk::body(&desk.sent[1]);
    assert_eq!(body["messages"][2]["content"][0]["text"], "Two.");
}

#[test]
fn o3_a_request_that_is_too_long_is_compacted_and_tried_again_once() {
    let mut desk = Desk::new();
    desk.exchange(&"A long story. ".repeat(900), Answer::Says("I see.", 9_000));
    desk.exchange(
        "And now?",
        Answer::Fails(EffectFailureKind::TooLong { gap: Some(500) }),
    );
    assert_eq!(desk.compactions(), 1);
    assert_eq!(
        desk.sent.len(),
        3,
        "the first, the one that failed, the retry"
    );
    assert!(
        !desk
            .events
            .iter()
            .any(|event| matches!(event, Event::TurnFailed { .. })),
        "withheld"
    );

    desk.say("More.");
    for _ in 0..2 {
        desk.answers
            .push_back(Answer::Fails(EffectFailureKind::TooLong { gap: None }));
    }
    desk.turn();
    assert!(
        desk.events
            .iter()
            .any(|event| matches!(event, Event::TurnFailed { .. })),
        "one attempt a turn"
    );
}

#[test]
fn o3_switched_off_the_error_reaches_the_user() {
    let switches = Switches {
        reactive: false,
        ..Switches::default()
    };
    let mut desk = Desk::with(Setting {
        switches,
        ..Setting::default()
    });
    desk.exchange(
        "Hello?",
        Answer::Fails(EffectFailureKind::TooLong { gap: None }),
    );
    assert_eq!(desk.compactions(), 0);
    assert!(
        desk.events
            .iter()
            .any(|event| matches!(event, Event::TurnFailed { .. }))
    );
}

#[test]
fn o5_a_full_window_is_refused_with_what_to_do_when_compaction_is_off() {
    let switches = Switches {
        automatic: false,
        ..Switches::default()
    };
    let mut desk = Desk::with(Setting {
        switches,
        ..Setting::default()
    });
    desk.exchange("Hello.", Answer::Says("Hi.", 15_900));
    desk.say("More.");
    desk.turn();
    assert_eq!(desk.sent.len(), 1);
    let refused = desk.events.iter().find_map(|event| match event {
        Event::Refused { message } => Some(message.clone()),
        _ => None,
    });
    assert!(refused.unwrap().contains("/compact"));
    desk.input(longhaul_core::engine::EngineInput::Compact(
        Default::default(),
    ));
    assert_eq!(
        desk.compactions() + desk.failures().len(),
        1,
        "by hand it still works, if there is anything to gain"
    );
}

#[test]
fn h6_another_owner_of_the_window_leaves_it_alone() {
    let mut desk = Desk::with(Setting {
        owner: WindowOwner::Reactive,
        ..Setting::default()
    });
    desk.fill();
    desk.turn();
    assert_eq!(desk.compactions(), 0);
    assert_eq!(desk.sent.len(), 3);
}

#[test]
fn u2_what_is_cleared_is_archived_first_then_recorded_then_sent_no_more() {
    let mut desk = Desk::new();
    desk.exchange("Look around.", Answer::Says("Yes.", 100));
    desk.say("Read them.");
    for id in ["t0", "t1", "t2", "t3", "t4", "t5", "t6"] {
        desk.works(id, 200, 1_000);
    }
    desk.answers.push_back(Answer::Says("Done.", 2_000));
    desk.turn();
    desk.asked.clear();
    desk.later(3_700);
    desk.exchange("Back again.", Answer::Says("Welcome.", 1_500));
    assert_eq!(
        desk.asked,
        [
            "persist", "archive", "persist", "persist", "send", "persist"
        ]
    );
    let cleared = &desk.subtypes("microcompact_boundary")[0]["microcompactMetadata"];
    assert_eq!(cleared["compactedToolIds"], serde_json::json!(["t0", "t1"]));
    let last = String::from_utf8(desk.sent.last().unwrap().body.concat()).unwrap();
    assert_eq!(last.matches(&"x".repeat(800)).count(), 5);
    assert!(
        last.contains(r#""tool_use_id":"t0""#),
        "the call and a marker stay"
    );
}

#[test]
fn u2_only_the_entries_of_what_is_cleared_are_archived() {
    let mut desk = Desk::new();
    desk.exchange("Look around.", Answer::Says("Yes.", 100));
    desk.say("Read them.");
    for id in ["t0", "t1", "t2", "t3", "t4", "t5", "t6"] {
        desk.works(id, 200, 1_000);
    }
    desk.answers.push_back(Answer::Says("Done.", 2_000));
    desk.turn();
    desk.later(3_700);
    desk.hold = Some("archive");
    desk.exchange("Back again.", Answer::Says("Welcome.", 1_500));
    let Some(Effect::Archive {
        entries, results, ..
    }) = &desk.held
    else {
        panic!("nothing was archived: {:?}", desk.asked);
    };
    assert_eq!(results.as_deref(), Some(&["t0".into(), "t1".into()][..]));
    let lines: Vec<&str> = entries
        .iter()
        .map(|entry| std::str::from_utf8(entry.view().line).unwrap())
        .collect();
    assert_eq!(lines.len(), 4, "two calls and their results: {lines:#?}");
    for line in lines {
        assert!(line.contains("\"t0\"") || line.contains("\"t1\""), "{line}");
    }
}

#[test]
fn o7_what_cannot_be_archived_is_not_cleared_whatever_it_costs() {
    let mut desk = Desk::new();
    desk.exchange("Look around.", Answer::Says("Yes.", 100));
    desk.say("Read them.");
    for id in ["t0", "t1", "t2", "t3", "t4", "t5", "t6"] {
        desk.works(id, 200, 1_000);
    }
    desk.answers.push_back(Answer::Says("Done.", 2_000));
    desk.turn();
    desk.later(3_700);
    desk.archive_broken = true;
    desk.exchange("Back again.", Answer::Says("Welcome.", 1_500));
    assert!(desk.subtypes("microcompact_boundary").is_empty());
    assert_eq!(desk.sent.len(), 10);
}

#[test]
fn h5_with_all_compaction_off_nothing_is_compacted_by_hand_either() {
    let switches = Switches {
        compaction: false,
        ..Switches::default()
    };
    let mut desk = Desk::with(Setting {
        switches,
        ..Setting::default()
    });
    desk.exchange("Hello.", Answer::Says("Hi.", 100));
    desk.input(longhaul_core::engine::EngineInput::Compact(
        Default::default(),
    ));
    assert_eq!(desk.failures(), [CompactFailure::SwitchedOff]);
}

#[test]
fn z1_what_is_added_while_the_model_answers_follows_its_reply() {
    let mut desk = Desk::new();
    desk.say("Build a parser.");
    desk.hold = Some("send");
    desk.turn();
    desk.say("In Rust, please.");
    desk.release();
    let lines: Vec<Value> = desk
        .transcript
        .iter()
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let [.., reply, added] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(reply["type"], "assistant");
    assert_eq!(added["message"]["content"], "In Rust, please.");
    assert_eq!(added["parentUuid"], reply["uuid"]);
}

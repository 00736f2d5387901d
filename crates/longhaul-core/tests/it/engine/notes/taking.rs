//! Tests that notes are taken beside the conversation.

use longhaul_core::engine::{Effect, EffectFailureKind, EngineInput, Event, NotesRunOutcome};
use longhaul_core::message::Usage;
use longhaul_core::window::{QuerySource, Switches};

use super::{noting, setting};
use crate::engine::desk::{Answer, Desk, Setting, failed};

#[test]
fn s2_notes_are_taken_once_there_is_enough_and_then_as_it_grows() {
    let mut desk = noting();
    desk.exchange("Hello.", Answer::Says("Hi.", 1_500));
    assert!(desk.notes_runs.is_empty(), "too little was said");
    desk.exchange("Build a parser.", Answer::Says("I will.", 2_100));
    assert_eq!(desk.notes_runs.len(), 1);
    desk.exchange("And?", Answer::Says("Soon.", 2_800));
    assert_eq!(desk.notes_runs.len(), 1, "it grew by too little");
    desk.say("Read it.");
    desk.works("t1", 100, 3_300);
    assert_eq!(desk.notes_runs.len(), 1, "in the middle of something");
    desk.works("t2", 100, 3_500);
    desk.works("t3", 100, 3_700);
    assert_eq!(desk.notes_runs.len(), 2, "three calls since");
}

#[test]
fn s2_a_run_is_never_beside_another_and_no_turn_waits_for_it() {
    let mut desk = noting();
    desk.aside = Some("take notes");
    desk.exchange("Build a parser.", Answer::Says("I will.", 2_100));
    assert_eq!(desk.set_aside.len(), 1);
    desk.exchange("And?", Answer::Says("Soon.", 6_000));
    desk.exchange("And now?", Answer::Says("Now.", 9_000));
    assert_eq!(desk.sent.len(), 3, "the conversation goes on");
    assert_eq!(desk.set_aside.len(), 1, "and nothing was begun beside it");
    desk.catch_up();
    desk.exchange("More.", Answer::Says("Yes.", 10_500));
    assert_eq!(desk.notes_runs.len(), 2);
}

#[test]
fn e1_a_run_that_asked_nobody_is_not_written_down() {
    let mut desk = noting();
    desk.exchange("Build a parser.", Answer::Says("I will.", 2_100));
    assert_eq!(desk.notes_runs.len(), 1);
    desk.exchange("And?", Answer::Says("Soon.", 2_200));
    let mut lines = desk.transcript.iter();
    assert!(!lines.any(|line| String::from_utf8_lossy(line).contains("notes-taken")));
}

#[test]
fn s3_a_run_that_the_host_could_not_perform_says_why() {
    let mut desk = noting();
    desk.hold = Some("take notes");
    desk.exchange("Build a parser.", Answer::Says("I will.", 2_100));
    let Some(Effect::TakeNotes { id, .. }) = desk.held.take() else {
        panic!("no notes were taken: {:?}", desk.asked);
    };
    let outcome = failed(EffectFailureKind::Other);
    desk.input(EngineInput::Done { id, outcome });
    let why = desk.events.iter().find_map(|event| match event {
        Event::NotesTaken(told) => told.taken.failed.as_deref(),
        _ => None,
    });
    assert_eq!(why, Some("it failed"));
}

#[test]
fn s2_a_run_that_does_not_come_back_is_given_up() {
    let mut desk = noting();
    desk.aside = Some("take notes");
    desk.exchange("Build a parser.", Answer::Says("I will.", 2_100));
    desk.later(61);
    desk.exchange("And?", Answer::Says("Soon.", 6_000));
    assert_eq!(desk.set_aside.len(), 2);
    assert!(
        desk.asked.contains(&"cancel".to_owned()),
        "{:?}",
        desk.asked
    );
    let told = |desk: &Desk| {
        let taken = desk.events.iter();
        taken
            .filter(|event| matches!(event, Event::NotesTaken(_)))
            .count()
    };
    desk.catch_up();
    assert_eq!(told(&desk), 1, "what the first brings is dropped");
}

#[test]
fn s3_the_agent_asks_behind_what_was_sent() {
    let mut desk = noting();
    desk.exchange("Build a parser.", Answer::Says("I will.", 1_000));
    desk.say("Read it.");
    desk.works("t1", 100, 2_400);
    let run = &desk.notes_runs[0];
    let mut fork = run.fork.clone();
    fork.say("Take notes.");
    let fork = String::from_utf8(fork.body().concat()).unwrap();
    let parent = String::from_utf8(desk.sent[1].body.concat()).unwrap();
    let parent = parent.strip_suffix("]}]}").unwrap();
    assert_eq!(
        &fork[..parent.len()],
        parent,
        "to the byte, markers included"
    );
    assert!(
        fork.ends_with(r#",{"type":"text","text":"Take notes."}]}]}"#),
        "{fork}"
    );
    assert_eq!(run.edit_tool.as_deref(), Some("Edit"));
}

#[test]
fn s3_a_reply_that_calls_nothing_is_noted_too() {
    let mut desk = noting();
    desk.exchange("Build a parser.", Answer::Says("I will build it.", 2_400));
    let mut fork = desk.notes_runs[0].fork.clone();
    fork.say("Take notes.");
    let body: serde_json::Value = serde_json::from_slice(&fork.body().concat()).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    // The next request of the conversation begins with the same bytes as before.
    desk.exchange("And?", Answer::Says("Soon.", 2_500));
    let (first, second) = (&desk.sent[0].body.concat(), &desk.sent[1].body.concat());
    let until = String::from_utf8_lossy(first)
        .find("Build a parser.")
        .unwrap();
    assert_eq!(first[..until], second[..until]);
}

#[test]
fn s5_how_far_the_notes_reach_is_the_last_entry_that_was_asked_behind() {
    let mut desk = noting();
    desk.exchange("Build a parser.", Answer::Says("I will.", 1_000));
    desk.say("Now, please.");
    desk.works("t1", 100, 2_400);
    let asked = desk
        .transcript
        .iter()
        .find(|line| String::from_utf8_lossy(line).contains("Now, please."));
    let asked: serde_json::Value = serde_json::from_slice(asked.unwrap()).unwrap();
    let reach = &desk.notes_runs[0].reach;
    assert_eq!(asked["uuid"], reach.last_summarized_uuid.as_str());
    assert_eq!(reach.tokens, 2_430);
}

#[test]
fn f7_a_fork_after_a_reply_marks_nothing_that_is_not_in_the_cache_already() {
    let mut desk = noting();
    desk.exchange("Build a parser.", Answer::Says("I will build it.", 1_000));
    desk.exchange("When?", Answer::Says("Now.", 2_400));
    let mut fork = desk.notes_runs[0].fork.clone();
    fork.say("Take notes.");
    let body: serde_json::Value = serde_json::from_slice(&fork.body().concat()).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let marked: Vec<bool> = messages
        .iter()
        .map(|message| message.to_string().contains("cache_control"))
        .collect();
    assert_eq!(
        marked,
        [false, false, true, false, false],
        "the request that the reply answered ended there: {messages:?}"
    );
}

#[test]
fn h5_h6_switched_off_or_beside_the_main_conversation_no_notes_are_taken() {
    let off = Setting {
        switches: Switches {
            notes: false,
            ..Switches::default()
        },
        ..setting()
    };
    let agent = Setting {
        source: QuerySource::agent("explorer"),
        ..setting()
    };
    let inside = Setting {
        source: QuerySource::COMPACT,
        ..setting()
    };
    for setting in [off, agent, inside] {
        let mut desk = Desk::with(setting);
        desk.exchange("Build a parser.", Answer::Says("I will.", 9_000));
        assert!(desk.notes_runs.is_empty());
    }
}

#[test]
fn e1_what_notes_cost_is_told_and_written_down() {
    let mut desk = noting();
    desk.notes_taken = NotesRunOutcome {
        changed: 2,
        refused: 1,
        requests: 1,
        usage: Usage {
            input: 1_000,
            cache_read: 100_000,
            output: 500,
            ..Usage::default()
        },
        failed: None,
    };
    desk.exchange("Build a parser.", Answer::Says("I will.", 2_100));
    let told = desk.events.iter().find_map(|event| match event {
        Event::NotesTaken(notes) => Some(notes),
        _ => None,
    });
    assert!(told.unwrap().cost.is_some());
    desk.say("And?");
    let line = desk.transcript.iter().find_map(|line| {
        let line: serde_json::Value = serde_json::from_slice(line).unwrap();
        (line["type"] == "notes-taken").then_some(line)
    });
    let line = line.unwrap();
    assert_eq!((&line["changed"], &line["refused"]), (&2.into(), &1.into()));
    assert_eq!(line["usage"]["cache_read_input_tokens"], 100_000);
    assert!(line["uuid"].is_null());
}

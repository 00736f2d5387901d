//! Tests notes during a conversation: taken beside it, and used for compaction.

use longhaul_core::engine::{
    CompactRequest, Effect, EffectFailureKind, EngineInput, Event, HookOutcome, NotesConfig,
    NotesOnDisk, NotesRunOutcome, Pivot, Summarizer, SummaryTiming,
};
use longhaul_core::message::Usage;
use longhaul_core::notes::{DEFAULT_TEMPLATE, NotesProgress, NotesSettings, NotesSkipReason};
use longhaul_core::rehydrate::{FileText, RestoreSourceResult};
use longhaul_core::summary::PivotDirection;
use longhaul_core::window::{QuerySource, Switches, WindowOwner};

use super::desk::{Answer, Desk, Setting, failed, long};

const NOTES: &str = "# Session title\n_Five to ten words that tell this session from any other_\nThe parser\n\n\
# Current state\nThe lexer is done, the grammar is open.\n";

fn setting() -> Setting {
    Setting {
        notes: Some(NotesConfig {
            settings: NotesSettings::default(),
            path: "/s/session-memory/summary.md".into(),
            edit_tool: Some("Edit".into()),
            reach: None,
        }),
        ..Setting::default()
    }
}

fn noting() -> Desk {
    Desk::with(setting())
}

/// Puts notes on disk that reach as far as the last run was meant to reach.
fn noted(desk: &mut Desk, text: &str) {
    let reach = desk.notes_runs.last().unwrap().reach.clone();
    desk.notes = NotesOnDisk {
        text: Some(text.into()),
        template: None,
        reach: Some(reach),
    };
}

fn reasons(desk: &Desk) -> Vec<NotesSkipReason> {
    let events = desk.events.iter().filter_map(|event| match event {
        Event::NotesNotUsed { reason } => Some(*reason),
        _ => None,
    });
    events.collect()
}

/// Returns a conversation that fills the window with its next turn, with notes on its oldest part, while newer notes
/// are being taken.
fn filling() -> Desk {
    let mut desk = noting();
    desk.exchange(
        "Build a parser. Never use regexes.",
        Answer::Says(long(), 5_000),
    );
    noted(&mut desk, NOTES);
    desk.aside = Some("take notes");
    desk.exchange("What do you know about it?", Answer::Says(long(), 9_500));
    desk.exchange("Which kind?", Answer::Says("Recursive descent.", 13_500));
    desk.say("Go on.");
    desk
}

/// Returns the same conversation after the newer notes were taken.
fn filled() -> Desk {
    let mut desk = filling();
    desk.catch_up();
    desk
}

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
fn s6_s7_notes_stand_for_the_older_part_without_asking_a_model() {
    let mut desk = filled();
    desk.turn();
    let done = desk.last_compaction();
    assert_eq!(done.by, Summarizer::Notes);
    assert!(done.usage.is_none() && done.after < done.before);
    assert!(desk.summaries_sent.is_empty());
    let sent = Desk::body(desk.sent.last().unwrap()).to_string();
    assert!(sent.contains("The lexer is done, the grammar is open."));
    assert!(
        sent.contains("Never use regexes."),
        "what the user said is kept"
    );
    assert!(sent.contains("What do you know about it?") && sent.contains("Go on."));
    let boundary = &desk.subtypes("compact_boundary")[0];
    assert!(boundary["compactMetadata"]["preservedSegment"].is_object());
    assert_eq!(
        boundary["compactMetadata"]["report"]["user_messages"]["omitted"],
        0
    );
}

#[test]
fn s6_notes_are_used_although_not_all_old_words_of_the_user_fit() {
    let mut desk = noting();
    for part in 0..400 {
        desk.say(&format!(
            "Part {part} is green, and it stays as it is, {part} pages of it, until I say so."
        ));
    }
    desk.exchange("Build a parser.", Answer::Says("I will.", 5_000));
    noted(&mut desk, NOTES);
    let answer = Box::leak("Here is all of it. ".repeat(1_000).into_boxed_str());
    desk.exchange("What do you know?", Answer::Says(answer, 9_500));
    desk.exchange("Is that all?", Answer::Says("It is.", 15_900));
    desk.say("Go on.");
    desk.turn();
    let done = desk.last_compaction();
    assert_eq!(done.by, Summarizer::Notes, "{:?}", reasons(&desk));
    assert!(done.report.user_messages.omitted > 0);
    assert!(desk.summaries_sent.is_empty());
}

#[test]
fn s7_r1_files_are_restored_beside_notes_as_beside_a_summary() {
    let mut desk = filled();
    desk.files = vec![RestoreSourceResult::Found(FileText {
        path: "/p/a.rs".into(),
        text: "fn a() {}\n".into(),
    })];
    desk.turn();
    let done = desk.last_compaction();
    assert_eq!(done.by, Summarizer::Notes);
    assert_eq!(done.report.files.restored, 1);
}

#[test]
fn o1_by_hand_without_instructions_goes_by_the_notes_and_with_them_to_a_model() {
    let mut desk = filled();
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.last_compaction().by, Summarizer::Notes);
    let mut desk = filled();
    desk.input(EngineInput::Compact(CompactRequest {
        instructions: Some("Keep the grammar.".into()),
        ..CompactRequest::default()
    }));
    assert_eq!(desk.last_compaction().by, Summarizer::Fork);
    let mut desk = filled();
    let uuid = desk.engine.live().newest().unwrap().to_owned();
    desk.input(EngineInput::Compact(CompactRequest {
        pivot: Some(Pivot {
            uuid,
            direction: PivotDirection::UpTo,
        }),
        ..CompactRequest::default()
    }));
    assert_eq!(desk.last_compaction().by, Summarizer::Fork);
}

#[test]
fn k1_what_hooks_want_heeded_goes_to_a_model() {
    let mut desk = filled();
    desk.pre_compact = HookOutcome {
        instructions: vec!["Name every file.".into()],
        ..HookOutcome::default()
    };
    desk.turn();
    assert_eq!(desk.last_compaction().by, Summarizer::Fork);
}

#[test]
fn s6_without_a_file_a_model_is_asked() {
    let mut desk = filled();
    desk.notes = NotesOnDisk::default();
    desk.turn();
    assert_eq!(desk.last_compaction().by, Summarizer::Fork);
    assert_eq!(reasons(&desk), [NotesSkipReason::NoFile]);
}

#[test]
fn s6_with_an_untouched_template_a_model_is_asked() {
    let mut desk = filled();
    desk.notes.text = Some(DEFAULT_TEMPLATE.into());
    desk.turn();
    assert_eq!(desk.last_compaction().by, Summarizer::Fork);
    assert_eq!(reasons(&desk), [NotesSkipReason::UntouchedTemplate]);
}

#[test]
fn s6_where_it_is_not_known_how_far_they_reach_a_model_is_asked() {
    for reach in [
        None,
        Some(NotesProgress {
            last_summarized_uuid: "gone".into(),
            tokens: 5,
        }),
    ] {
        let mut desk = filled();
        desk.notes.reach = reach;
        desk.turn();
        assert_eq!(desk.last_compaction().by, Summarizer::Fork);
        assert_eq!(reasons(&desk), [NotesSkipReason::UnknownLastSummarized]);
    }
}

#[test]
fn s6_what_would_be_over_the_threshold_again_goes_to_a_model() {
    let mut desk = noting();
    desk.exchange("Build a parser.", Answer::Says(long(), 2_100));
    noted(&mut desk, NOTES);
    desk.aside = Some("take notes");
    // All of this comes after the part that the notes cover.
    for prompt in [5_000, 8_000, 11_000, 13_500] {
        desk.exchange("What do you know about it?", Answer::Says(long(), prompt));
    }
    desk.say("Go on.");
    desk.turn();
    desk.later(15);
    desk.input(EngineInput::Wake);
    assert_eq!(desk.last_compaction().by, Summarizer::Fork);
    assert!(
        matches!(
            reasons(&desk)[..],
            [NotesSkipReason::OverThreshold { .. }, ..]
        ),
        "{:?}",
        reasons(&desk)
    );
}

#[test]
fn s6_a_compaction_waits_for_notes_that_are_being_taken_but_not_for_long() {
    let mut desk = filling();
    desk.turn();
    assert_eq!(desk.sent.len(), 3, "it waits");
    let wait = desk.engine.deadline().unwrap().duration_since(desk.now);
    assert_eq!(wait.as_secs(), 15);
    desk.later(15);
    desk.input(EngineInput::Wake);
    assert_eq!(
        desk.last_compaction().by,
        Summarizer::Notes,
        "with what there is"
    );
    assert_eq!(desk.last_compaction().waited, 15_000);
    assert_eq!(desk.sent.len(), 4);
}

#[test]
fn f8_the_status_is_repeated_while_notes_are_waited_for() {
    let mut desk = filling();
    desk.hold = Some("PreCompact");
    desk.turn();
    let begun = desk.now;
    desk.later(20);
    desk.release();
    let deadline = |desk: &Desk| desk.engine.deadline().unwrap().duration_since(begun);
    assert_eq!(deadline(&desk).as_secs(), 30, "before the wait is over");
    desk.later(10);
    desk.input(EngineInput::Wake);
    let told = desk.events.iter();
    let told = told.filter(|event| matches!(event, Event::StillCompacting { seconds: 30 }));
    assert_eq!(told.count(), 1);
    assert_eq!(desk.compactions(), 0, "it still waits for the notes");
    assert_eq!(deadline(&desk).as_secs(), 35, "and then no longer");
    desk.later(5);
    desk.input(EngineInput::Wake);
    assert_eq!(desk.last_compaction().by, Summarizer::Notes);
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
fn x5_where_nothing_is_waited_for_turns_go_on_beside_notes_as_long_as_there_is_room() {
    let ahead = || {
        let mut desk = Desk::with(Setting {
            preparation: SummaryTiming::Ahead,
            ..setting()
        });
        desk.exchange("Build a parser.", Answer::Says(long(), 2_500));
        desk.exchange("Never use regexes.", Answer::Says(long(), 5_000));
        noted(&mut desk, NOTES);
        for words in ["Which kind?", "Why?", "Since when?"] {
            desk.exchange(words, Answer::Says("I do not know.", 5_500));
        }
        desk.aside = Some("take notes");
        desk.exchange("What do you know?", Answer::Says(long(), 9_500));
        desk.exchange("Is that all?", Answer::Says("It is.", 13_500));
        desk.sent.clear();
        assert_eq!((desk.compactions(), desk.summaries_sent.len()), (0, 0));
        desk
    };
    let mut desk = ahead();
    desk.exchange("And?", Answer::Says("More.", 13_600));
    assert_eq!((desk.sent.len(), desk.compactions()), (1, 0), "it goes on");
    desk.catch_up();
    desk.exchange("So?", Answer::Says("So.", 4_000));
    let done = desk.last_compaction();
    assert_eq!((done.by, done.waited), (Summarizer::Notes, 0));

    let mut desk = ahead();
    desk.exchange("And?", Answer::Says("More.", 15_900));
    desk.say("So?");
    desk.turn();
    let done = desk.last_compaction();
    assert_eq!(
        (done.by, done.waited),
        (Summarizer::Notes, 0),
        "no room is left: by those that there are"
    );
    assert_eq!(desk.sent.len(), 2);
    let sent = Desk::body(&desk.sent[1]).to_string();
    for kept in ["Which kind?", "Is that all?", "So?"] {
        assert!(sent.contains(kept), "what they do not cover is kept");
    }
}

#[test]
fn s6_notes_that_come_while_a_compaction_waits_are_used_at_once() {
    let mut desk = filling();
    desk.turn();
    assert_eq!(desk.compactions(), 0);
    desk.later(2);
    desk.catch_up();
    assert_eq!(desk.last_compaction().by, Summarizer::Notes);
    assert_eq!(desk.last_compaction().waited, 2_000);
}

#[test]
fn s6_a_cancel_while_it_waits_changes_nothing_and_leaves_the_notes_alone() {
    let mut desk = filling();
    desk.turn();
    desk.input(EngineInput::Cancel);
    assert!(desk.engine.is_idle());
    assert_eq!(desk.compactions(), 0);
    assert!(!desk.asked.contains(&"cancel".to_owned()));
    desk.catch_up();
    desk.turn();
    assert_eq!(desk.last_compaction().by, Summarizer::Notes);
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
fn h6_where_another_owns_the_window_notes_are_taken_but_not_compacted_by() {
    let mut desk = Desk::with(Setting {
        owner: WindowOwner::Reactive,
        ..setting()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 13_500));
    assert_eq!(desk.notes_runs.len(), 1);
    desk.exchange("And?", Answer::Says("Soon.", 13_900));
    assert_eq!(desk.compactions(), 0);
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

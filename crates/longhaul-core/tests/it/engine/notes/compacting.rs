//! Tests that notes stand for the older part of a conversation, and when they do not.

use longhaul_core::engine::{
    CompactRequest, EngineInput, Event, HookOutcome, NotesOnDisk, Pivot, Summarizer, SummaryTiming,
};
use longhaul_core::notes::{DEFAULT_TEMPLATE, NotesProgress, NotesSkipReason};
use longhaul_core::rehydrate::{FileText, RestoreSourceResult};
use longhaul_core::summary::PivotDirection;
use longhaul_core::window::WindowOwner;

use super::{NOTES, filled, filling, noted, noting, reasons, setting};
use crate::engine::desk::{Answer, Desk, Setting, long};

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

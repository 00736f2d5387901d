//! Tests what prepares a summary beside notes, and when a prepared summary or notes give way to a summary of everything
//! (X5, S6).

use longhaul_core::engine::{
    Event, HookOutcome, NotesConfig, NotesOnDisk, PreparationEvent, Summarizer, SummaryTiming,
};
use longhaul_core::notes::{NotesSettings, NotesSkipReason};

use super::desk::{Answer, Desk, Setting, long};

const NOTES: &str = "# Session title\n_Five to ten words that tell this session from any other_\nThe parser\n\n\
# Current state\nThe lexer is done, the grammar is open.\n";

fn noting() -> NotesConfig {
    NotesConfig {
        settings: NotesSettings::default(),
        path: "/s/session-memory/summary.md".into(),
        edit_tool: Some("Edit".into()),
        reach: None,
    }
}

/// Returns a text of so many estimated tokens.
fn text(tokens: usize) -> &'static str {
    Box::leak("word ".repeat(tokens * 3 / 5).into_boxed_str())
}

fn hooks_say(desk: &mut Desk, tokens: usize) {
    desk.session_start = HookOutcome {
        context: vec![text(tokens).into()],
        ..HookOutcome::default()
    };
}

fn aheads(desk: &Desk) -> Vec<PreparationEvent> {
    let events = desk.events.iter().filter_map(|event| match event {
        Event::Ahead(ahead) => Some(*ahead),
        _ => None,
    });
    events.collect()
}

/// Returns a conversation that will soon reach its threshold of 13,400.
fn soon(notes: Option<NotesConfig>) -> Desk {
    let mut desk = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        notes,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 4_000));
    desk.exchange("Which kind?", Answer::Says("Recursive descent.", 5_000));
    desk
}

#[test]
fn x5_s6_a_summary_is_prepared_beside_notes_only_if_they_do_not_suffice() {
    let mut without = soon(Some(noting()));
    without.exchange("What do you know?", Answer::Says("Much.", 11_000));
    assert!(without.asked.contains(&"read notes".to_owned()));
    assert_eq!(
        aheads(&without),
        [PreparationEvent::Begun, PreparationEvent::Ready]
    );
    let mut with = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        notes: Some(noting()),
        ..Setting::default()
    });
    with.exchange("Build a parser.", Answer::Says(long(), 5_000));
    with.notes = NotesOnDisk {
        text: Some(NOTES.into()),
        template: None,
        reach: Some(with.notes_runs.last().unwrap().reach.clone()),
    };
    with.exchange("What do you know?", Answer::Says(long(), 8_500));
    with.exchange("Is that all?", Answer::Says("It is.", 8_600));
    with.exchange("Which kind?", Answer::Says("Recursive descent.", 11_000));
    assert!(with.asked.contains(&"read notes".to_owned()));
    assert_eq!(aheads(&with), []);
}

#[test]
fn x5_without_notes_none_are_read() {
    let mut desk = soon(None);
    desk.exchange("What do you know?", Answer::Says("Much.", 11_000));
    assert!(!desk.asked.contains(&"read notes".to_owned()));
    assert_eq!(
        aheads(&desk),
        [PreparationEvent::Begun, PreparationEvent::Ready]
    );
}

#[test]
fn x5_x1_a_prepared_summary_that_would_cut_the_users_words_gives_way_to_one_of_everything() {
    let mut dropped = 0;
    for said in (8_500..12_500).step_by(500) {
        let mut desk = Desk::with(Setting {
            preparation: SummaryTiming::Ahead,
            ..Setting::default()
        });
        for _ in 0..10 {
            desk.exchange("Build a parser.", Answer::Says(text(1_250), 300));
        }
        for at in 0..120 {
            let wish = format!("Step {at}: look at record {at} and tell me what it is for.");
            desk.exchange(&wish, Answer::Says("Done.", 300));
        }
        desk.exchange("What is next?", Answer::Says("This.", 12_900));
        assert!(aheads(&desk).contains(&PreparationEvent::Ready));
        desk.exchange("And?", Answer::Says("Yes.", 15_500));
        hooks_say(&mut desk, said);
        desk.say("Go on.");
        desk.hold = Some("send");
        desk.turn();
        if desk.compactions() == 0 {
            continue;
        }
        let done = desk.last_compaction();
        let was_dropped = aheads(&desk).contains(&PreparationEvent::Dropped);
        let is_cut = done
            .report
            .notes
            .join(" ")
            .contains("newest messages were kept first");
        assert!(was_dropped || !is_cut, "{:?}", done.report);
        dropped += usize::from(was_dropped);
    }
    assert!(dropped > 0);
}

#[test]
fn s6_notes_that_leave_too_much_with_what_hooks_say_give_way_to_a_summary() {
    let mut desk = Desk::with(Setting {
        notes: Some(noting()),
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 5_000));
    desk.notes = NotesOnDisk {
        text: Some(NOTES.into()),
        template: None,
        reach: Some(desk.notes_runs.last().unwrap().reach.clone()),
    };
    desk.exchange("What do you know about it?", Answer::Says(long(), 9_500));
    desk.notes.reach = Some(desk.notes_runs.last().unwrap().reach.clone());
    desk.exchange("Which kind?", Answer::Says("Recursive descent.", 13_500));
    hooks_say(&mut desk, 12_000);
    desk.say("Go on.");
    desk.turn();
    let reasons: Vec<_> = desk
        .events
        .iter()
        .filter_map(|event| match event {
            Event::NotesNotUsed { reason } => Some(*reason),
            _ => None,
        })
        .collect();
    assert!(
        matches!(reasons[..], [NotesSkipReason::OverThreshold { .. }]),
        "{reasons:?}"
    );
    assert_eq!(aheads(&desk), []);
    if desk.compactions() > 0 {
        assert_ne!(desk.last_compaction().by, Summarizer::Notes);
    }
}

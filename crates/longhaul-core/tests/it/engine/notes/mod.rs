//! Tests notes during a conversation: taken beside it, and used for compaction.

mod compacting;
mod taking;

use longhaul_core::engine::{Event, NotesConfig, NotesOnDisk};
use longhaul_core::notes::{NotesSettings, NotesSkipReason};

use super::desk::{Answer, Desk, Setting, long};

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

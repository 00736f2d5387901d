//! Session notes: edits of one file that apply to the text they were made from.

use longhaul_core::notes::{
    NotesCaps, NotesEditWay, NotesPrompt, NotesTemplate, SessionNotes, apply,
};
use longhaul_core::window::WindowScale;
use longhaul_sim::model::{SimModel, SimModelOptions};
use serde_json::json;

use crate::model_folder::coding_tools;
use crate::model_talk::{Talk, calls, failed, fine, words};

const PATH: &str = "/home/u/.longhaul/s1/session-memory/summary.md";
const EMPTY: &str = "# Session Title\n_Five to ten words_\n\n# Current State\n_What is being done_\n\n# Task specification\n_What the user asked for_\n\n# Files and Functions\n_Which files matter_\n\n# Workflow\n_Commands_\n\n# Errors & Corrections\n_What went wrong_\n\n# Worklog\n_Step by step_\n";

fn session() -> Talk {
    let mut talk = Talk::new(1, coding_tools());
    talk.user("Make the store faster");
    talk.history(
        "I look.",
        "Read",
        json!({ "file_path": "/proj/src/store.rs" }),
        fine("     1→fn store() {}"),
    );
    talk.history(
        "I test.",
        "Bash",
        json!({ "command": "cargo bench store" }),
        failed("Exit code 1\nno bench target"),
    );
    talk.history(
        "I build.",
        "Bash",
        json!({ "command": "cargo build" }),
        fine("Finished"),
    );
    talk
}

fn prompt(notes: &str) -> String {
    format!(
        "Update the session notes in {PATH} now. Use only the Edit tool on that file, do not use any other tool. \
Keep each section below 300 tokens.\n<current_notes>\n{notes}</current_notes>\nKeep headings and the italic lines."
    )
}

fn model() -> SimModel {
    SimModel::new(SimModelOptions::default())
}

/// Applies the edits of a reply to the notes.
fn keep(talk: &mut Talk, notes: &mut String) -> usize {
    let mut applied = 0;
    talk.user(&prompt(notes));
    for _ in 0..20 {
        let draft = talk.send(&mut model());
        if calls(&draft).is_empty() {
            assert!(words(&draft).contains("up to date"), "{}", words(&draft));
            return applied;
        }
        talk.answer(|name, input| {
            assert_eq!((name, input["file_path"].as_str()), ("Edit", Some(PATH)));
            let old = input["old_string"].as_str().unwrap();
            assert_eq!(notes.matches(old).count(), 1, "{old}");
            *notes = notes.replacen(old, input["new_string"].as_str().unwrap(), 1);
            applied += 1;
            fine("Updated.")
        });
    }
    panic!("it never ends");
}

#[test]
fn s3_notes_are_kept_section_by_section_with_edits_that_apply() {
    let mut notes = EMPTY.to_owned();
    let applied = keep(&mut session(), &mut notes);
    assert_eq!(applied, 7, "{notes}");
    for line in EMPTY.lines().filter(|line| !line.is_empty()) {
        assert!(notes.lines().any(|kept| kept == line), "{line} is kept");
    }
    for fact in [
        "Make the store faster",
        "`/proj/src/store.rs` (read)",
        "`cargo build`",
        "Exit code 1",
    ] {
        assert!(notes.contains(fact), "{fact}\n---\n{notes}");
    }
}

#[test]
fn notes_grow_with_the_session_and_stay_as_they_are_without_news() {
    let mut notes = EMPTY.to_owned();
    keep(&mut session(), &mut notes);
    let before = notes.clone();
    assert_eq!(keep(&mut session(), &mut notes), 0);
    assert_eq!(notes, before);
    let mut later = session();
    later.user("And now the cache");
    later.history(
        "I look.",
        "Read",
        json!({ "file_path": "/proj/src/cache.rs" }),
        fine("     1→fn cache() {}"),
    );
    notes = notes.replace("_Commands_", "_Commands_\n- a line written by hand");
    assert!(keep(&mut later, &mut notes) >= 3);
    for fact in [
        "Make the store faster",
        "And now the cache",
        "cache.rs",
        "- a line written by hand",
    ] {
        assert!(notes.contains(fact), "{fact}\n---\n{notes}");
    }
}

#[test]
fn one_edit_a_turn_where_parallel_calls_are_off() {
    let mut talk = session();
    let choice = json!({ "type": "auto", "disable_parallel_tool_use": true });
    talk.request.fields.insert("tool_choice".to_owned(), choice);
    let mut notes = EMPTY.to_owned();
    assert_eq!(keep(&mut talk, &mut notes), 7);
    assert!(talk.made >= 8);
}

#[test]
fn s4_a_section_keeps_to_its_cap() {
    let mut talk = session();
    for number in 0..80 {
        talk.user(&format!(
            "Now do step {number} of the long plan that we spoke about, and do it well"
        ));
    }
    let mut notes = EMPTY.to_owned();
    keep(&mut talk, &mut notes);
    for section in notes.split("\n# ") {
        assert!(
            section.len() <= 300 * 4,
            "{} bytes\n{section}",
            section.len()
        );
    }
    assert!(notes.contains("step 79"));
}

#[test]
fn s3_without_an_edit_tool_the_changed_sections_come_as_text() {
    let mut talk = session();
    talk.request
        .tools
        .retain(|tool| tool.name == "Read" || tool.name == "Bash");
    talk.user(&prompt(EMPTY));
    let draft = talk.send(&mut model());
    assert!(calls(&draft).is_empty());
    let text = words(&draft);
    assert!(
        text.starts_with("# Session Title\n_Five to ten words_\nMake the store faster"),
        "{text}"
    );
    assert!(
        text.contains("# Workflow\n_Commands_\n- `cargo bench store`\n- `cargo build`"),
        "{text}"
    );
}

#[test]
fn s3_an_answer_in_text_stands_between_the_tags_that_the_prompt_names() {
    let mut talk = session();
    talk.request.tools.retain(|tool| tool.name == "Read");
    let prompt = prompt(EMPTY);
    talk.user(&format!(
        "{prompt}\nGive the sections between these tags:\n<notes>\n…\n</notes>"
    ));
    let text = words(&talk.send(&mut model()));
    assert!(text.starts_with("<notes>\n# Session Title"), "{text}");
    assert!(text.ends_with("\n</notes>"), "{text}");
}

#[test]
fn an_edit_that_does_not_apply_is_admitted() {
    let mut talk = session();
    talk.user(&prompt(EMPTY));
    talk.send(&mut model());
    talk.answer(|_, _| failed("String not found."));
    let draft = talk.send(&mut model());
    assert!(
        calls(&draft).is_empty() && words(&draft).contains("7 of the edits"),
        "{}",
        words(&draft)
    );
}

/// The prompt of the library.
fn ours(notes: &SessionNotes, way: NotesEditWay<'_>) -> String {
    let prompt = NotesPrompt {
        notes,
        path: PATH,
        way,
        caps: NotesCaps::at(WindowScale::of_window(200_000)),
        custom: None,
    };
    prompt.text()
}

#[test]
fn s3_our_own_prompt_is_answered_with_edits_that_leave_the_frame() {
    let empty = NotesTemplate::default().notes().clone();
    let mut text = empty.text().to_owned();
    let mut talk = session();
    talk.user(&ours(&empty, NotesEditWay::Edit { tool: "Edit" }));
    let draft = talk.send(&mut model());
    assert!(calls(&draft).len() >= 3, "{}", words(&draft));
    talk.answer(|name, input| {
        assert_eq!((name, input["file_path"].as_str()), ("Edit", Some(PATH)));
        let old = input["old_string"].as_str().unwrap();
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text = text.replacen(old, input["new_string"].as_str().unwrap(), 1);
        fine("Updated.")
    });
    let changed = SessionNotes::parse(text);
    assert_eq!(empty.allows(&changed), Ok(()));
    assert!(changed.text().contains("Make the store faster"));
}

#[test]
fn s3_our_own_prompt_is_answered_in_text_between_its_tags() {
    let empty = NotesTemplate::default().notes().clone();
    // The parent's edit tool is still offered, because the request repeats the parent's bytes.
    let mut talk = session();
    talk.user(&ours(&empty, NotesEditWay::Answer));
    let draft = talk.send(&mut model());
    assert!(calls(&draft).is_empty(), "it was asked for text");
    let applied = apply(&words(&draft), &empty).unwrap();
    assert!(
        applied.changed.len() >= 3 && applied.refused.is_empty(),
        "{applied:?}"
    );
    assert!(applied.notes.text().contains("Make the store faster"));
    // A second request without anything new changes nothing.
    let mut again = session();
    again.user(&ours(&applied.notes, NotesEditWay::Answer));
    let draft = again.send(&mut model());
    let kept = apply(&words(&draft), &applied.notes).unwrap();
    assert!(kept.changed.is_empty(), "{:?}", kept.changed);
}

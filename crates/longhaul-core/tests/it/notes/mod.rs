//! Tests session notes.

mod answer;
mod document;
mod fragments;
mod guard;
mod plan;
mod trigger;

use longhaul_core::notes::{NotesCaps, NotesTemplate, SessionNotes};
use longhaul_core::window::WindowScale;

/// Returns the caps of a large window.
fn caps() -> NotesCaps {
    NotesCaps::at(WindowScale::of_window(200_000))
}

/// Returns notes from our template with text in some sections.
fn noted(bodies: &[(&str, &str)]) -> SessionNotes {
    let mut notes = NotesTemplate::default().notes().clone();
    for (title, body) in bodies {
        let (at, _) = notes.find(title).unwrap();
        notes = notes.with_body(at, body).unwrap();
    }
    notes
}

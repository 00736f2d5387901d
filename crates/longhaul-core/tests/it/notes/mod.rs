//! Session notes.

mod answer;
mod document;
mod fragments;
mod guard;
mod plan;
mod trigger;

use longhaul_core::notes::{Caps, Notes, Template};
use longhaul_core::window::Scale;

/// The caps of a large window.
fn caps() -> Caps {
    Caps::at(Scale::of_window(200_000))
}

/// Notes from our template with something in some sections.
fn noted(bodies: &[(&str, &str)]) -> Notes {
    let mut notes = Template::default().notes().clone();
    for (title, body) in bodies {
        let (at, _) = notes.find(title).unwrap();
        notes = notes.with_body(at, body).unwrap();
    }
    notes
}

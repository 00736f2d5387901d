//! The inputs of calls that look: how much to read, and where and how to search.

use serde_json::{Value, json};

use super::super::turn::AgentTurn;

/// The number of lines to read of a file for an overview.
pub(super) const A_LOOK: usize = 120;

/// The number of lines to read of a file that the user asks about.
pub(super) const A_READ: usize = 600;

/// Restricts a call to a small folder, where the whole disk would take long.
pub(super) fn within(mind: &AgentTurn<'_>, mut hints: Value) -> Value {
    if matches!(mind.view.folder.as_deref(), Some("" | "/")) {
        hints["path"] = json!("/etc");
    }
    hints
}

/// A search that shows lines, however they are capitalized.
pub(super) fn search(term: &str) -> Value {
    json!({ "pattern": escaped(term), "output_mode": "content", "-i": true, "-n": true, "head_limit": 40 })
}

/// A term as a pattern that matches it literally.
fn escaped(term: &str) -> String {
    let special = |letter: char| r"\.+*?()|[]{}^$#&-~".contains(letter);
    let mut pattern = String::new();
    for letter in term.chars() {
        if special(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

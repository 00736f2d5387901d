//! Notes as a summary: each section cut to its cap, with a pointer to the rest (S6).

use super::{NotesCaps, SessionNotes, fence};
use crate::quoting::{inline, without_claims};
use crate::tokens::cut::beginning;

/// Notes in a form that fits into a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortenedNotes {
    /// The text.
    pub text: String,
    /// The titles of the sections that were cut.
    pub cut: Vec<String>,
}

/// Cuts the sections that exceed their cap. Headings and descriptions stay; the file at `path` has the rest.
pub fn shortened(notes: &SessionNotes, caps: NotesCaps, path: &str) -> ShortenedNotes {
    let mut text = without_claims(notes.preamble());
    let mut cut = Vec::new();
    for (at, section) in notes.sections().enumerate() {
        text.push_str(&without_claims(notes.frame_of(at)));
        if !text.ends_with('\n') {
            text.push('\n');
        }
        match beginning(section.body, caps.section) {
            None => text.push_str(&without_claims(section.body)),
            Some(head) => {
                text.push_str(&without_claims(&closed(whole_lines(head))));
                let pointer = include_str!("cut.md").trim_end();
                text.push_str(&pointer.replace("{path}", &inline(path)));
                cut.push(section.title.to_owned());
            }
        }
        text.truncate(text.trim_end().len());
        text.push_str("\n\n");
    }
    text.truncate(text.trim_end().len());
    ShortenedNotes { text, cut }
}

/// Removes the last line, which was cut in two, unless it is most of the text.
fn whole_lines(head: &str) -> &str {
    match head.rfind('\n') {
        Some(line) if line >= head.len() / 2 => &head[..line],
        _ => head,
    }
}

/// Ends the text with a line break, and closes code that the cut went through: the text after it is not code.
fn closed(head: &str) -> String {
    match fence::open_at_end(head) {
        Some(open) => format!("{head}\n{}\n", open.closing()),
        None => format!("{head}\n"),
    }
}

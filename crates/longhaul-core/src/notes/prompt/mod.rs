//! The request to the agent that takes notes (S1, S3, S4), as one message after the parent's conversation.

use super::{NotesCaps, NotesExcess, SessionNotes};

/// How the agent changes the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesEditWay<'a> {
    /// The agent uses this tool, which the parent has.
    Edit {
        /// The name of the tool.
        tool: &'a str,
    },
    /// The agent answers with the sections that change.
    Answer,
}

/// The inputs of the request.
#[derive(Debug, Clone, Copy)]
pub struct NotesPrompt<'a> {
    /// The current notes.
    pub notes: &'a SessionNotes,
    /// The path of the notes file.
    pub path: &'a str,
    /// How the agent changes the notes.
    pub way: NotesEditWay<'a>,
    /// The maximum size of the notes.
    pub caps: NotesCaps,
    /// The user's own prompt. `{{notesPath}}` and `{{currentNotes}}` stand for path and notes; a blank prompt is
    /// ignored.
    pub custom: Option<&'a str>,
}

impl NotesPrompt<'_> {
    /// Returns the text. The user's prompt replaces our instructions for taking notes. How to hand them in, which
    /// sections exceed their cap and, if the prompt has no placeholder for it, the current file are added in any case.
    pub fn text(&self) -> String {
        let custom = self.custom.filter(|prompt| !prompt.trim().is_empty());
        let mut parts = Vec::new();
        let shows_notes = match custom {
            None => {
                parts.push(include_str!("task.md").to_owned());
                parts.push(self.filled(include_str!("rules.md"), "{", "}"));
                false
            }
            Some(prompt) => {
                parts.push(self.filled(prompt, "{{", "}}"));
                prompt.contains("{{currentNotes}}")
            }
        };
        if !shows_notes {
            parts.push(self.filled(include_str!("current.md"), "{", "}"));
        }
        parts.extend(self.reminders(&self.caps.over(self.notes)));
        parts.push(match self.way {
            NotesEditWay::Edit { .. } => self.filled(include_str!("edit.md"), "{", "}"),
            NotesEditWay::Answer => include_str!("answer.md").to_owned(),
        });
        let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
        parts.join("\n\n")
    }

    fn reminders(&self, over: &NotesExcess) -> Vec<String> {
        let mut reminders = Vec::new();
        let mut sections = String::new();
        for excess in &over.sections {
            sections.push_str(&fill(include_str!("over_section.md"), "{", "}", |name| {
                Some(match name {
                    "title" => excess.title.clone(),
                    "tokens" => excess.tokens.to_string(),
                    "cap" => self.caps.section.to_string(),
                    _ => return None,
                })
            }));
        }
        if !sections.is_empty() {
            reminders.push([include_str!("over_sections.md"), &sections].concat());
        }
        reminders.extend(over.total.map(|tokens| {
            fill(include_str!("over_total.md"), "{", "}", |name| match name {
                "tokens" => Some(tokens.to_string()),
                "cap" => Some(self.caps.total.to_string()),
                _ => None,
            })
        }));
        reminders
    }

    fn filled(&self, fragment: &str, open: &str, close: &str) -> String {
        fill(fragment, open, close, |name| {
            Some(match name {
                "notesPath" | "path" => self.path.to_owned(),
                "currentNotes" | "notes" => self.notes.text().trim_end().to_owned(),
                "section_cap" => self.caps.section.to_string(),
                "total_cap" => self.caps.total.to_string(),
                "tool" => match self.way {
                    NotesEditWay::Edit { tool } => tool.to_owned(),
                    NotesEditWay::Answer => return None,
                },
                _ => return None,
            })
        })
    }
}

/// Fills the placeholders in one pass, so that values are never searched for placeholders. Unknown placeholders stay: a
/// user's prompt may hold braces of its own.
fn fill(fragment: &str, open: &str, close: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::with_capacity(fragment.len());
    let mut rest = fragment;
    while let Some((before, behind)) = rest.split_once(open) {
        text.push_str(before);
        let place = behind.split_once(close);
        match place.and_then(|(name, next)| Some((value(name)?, next))) {
            Some((value, next)) => {
                text.push_str(&value);
                rest = next;
            }
            None => {
                text.push_str(open);
                rest = behind;
            }
        }
    }
    text.push_str(rest);
    text
}

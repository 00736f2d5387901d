//! The initial notes: our ten sections, or the user's own (S1).

use super::SessionNotes;

/// The sections that are used if the user has no template.
pub const DEFAULT_TEMPLATE: &str = include_str!("template.md");

/// The notes of a session in which nothing has been noted yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesTemplate(SessionNotes);

impl Default for NotesTemplate {
    fn default() -> Self {
        Self(SessionNotes::parse(DEFAULT_TEMPLATE))
    }
}

impl NotesTemplate {
    /// Creates the user's template. If it is blank or has no heading, the default template is used.
    pub fn custom(text: &str) -> Self {
        let notes = SessionNotes::parse(text);
        let sections = notes.sections().count();
        match sections {
            0 => Self::default(),
            _ => Self(notes),
        }
    }

    /// Returns the notes that a session begins with.
    pub fn notes(&self) -> &SessionNotes {
        &self.0
    }

    /// Whether nothing was ever noted: every section is blank or has the template's text. Line ends, blank lines and
    /// descriptions do not matter, so notes from an older template are also recognized.
    pub fn is_untouched(&self, notes: &SessionNotes) -> bool {
        let nothing = |text: &str, begun: Option<&str>| {
            let words = |text: &str| {
                text.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let said = words(text);
            said.is_empty() || begun.is_some_and(|begun| words(begun) == said)
        };
        let begun = |title: &str| self.0.find(title).map(|(_, section)| section.body);
        nothing(notes.preamble(), Some(self.0.preamble()))
            && notes
                .sections()
                .all(|section| nothing(section.body, begun(section.title)))
    }
}

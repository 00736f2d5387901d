//! One edit of the notes, in memory: a text that occurs once is replaced by another.

use longhaul_core::notes::SessionNotes;
use serde::Deserialize;
use serde_json::Value;

/// The input of a call of the edit tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct NotesEdit {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

/// Why an edit was not made. The model is told, and may try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotesEditError {
    /// The input is not an edit: a field is missing or has the wrong type.
    #[error("{}", include_str!("fragments/no_edit.md").trim_end())]
    NoEdit,
    /// Old and new are the same, or there is no old text.
    #[error("{}", include_str!("fragments/no_change.md").trim_end())]
    NoChange,
    /// The old text is not there.
    #[error("{}", include_str!("fragments/not_found.md").trim_end())]
    NotFound,
    /// The old text is there more than once.
    #[error("{}", include_str!("fragments/ambiguous.md").trim_end())]
    Ambiguous,
    /// The edit would change the file's headings or descriptions.
    #[error("{}", include_str!("fragments/frame.md").trim_end())]
    BreaksFrame,
}

impl NotesEdit {
    /// Reads the input of a call.
    ///
    /// # Errors
    /// Fails if the input lacks a field or has one of the wrong type; the message is for the model.
    pub(crate) fn read(input: &Value) -> Result<Self, NotesEditError> {
        Self::deserialize(input).map_err(|_| NotesEditError::NoEdit)
    }

    /// Makes the edit.
    ///
    /// # Errors
    /// Fails if the text to replace is not in the notes or is there several times, and if the edit changes nothing or
    /// would change the sections themselves; the message is for the model.
    pub(crate) fn apply(&self, notes: &SessionNotes) -> Result<SessionNotes, NotesEditError> {
        if self.old_string.is_empty() || self.old_string == self.new_string {
            return Err(NotesEditError::NoChange);
        }
        let text = notes.text();
        let changed = match (text.matches(&self.old_string).count(), self.replace_all) {
            (0, _) => return Err(NotesEditError::NotFound),
            (1, _) | (_, true) => text.replace(&self.old_string, &self.new_string),
            _ => return Err(NotesEditError::Ambiguous),
        };
        let changed = SessionNotes::parse(changed);
        match notes.allows(&changed) {
            Ok(()) => Ok(changed),
            Err(_) => Err(NotesEditError::BreaksFrame),
        }
    }
}

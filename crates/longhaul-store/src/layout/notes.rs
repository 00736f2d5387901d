//! Where the notes of a session lie: in the session's folder, beside its sub-agents.

use std::path::{Path, PathBuf};

/// Where the notes of a session lie, and what the user put beside them (S1). None of it need exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesFiles {
    folder: PathBuf,
}

impl NotesFiles {
    /// Those of the session with this transcript.
    pub fn of_transcript(transcript: &Path) -> Self {
        Self {
            folder: transcript.with_extension("").join("session-memory"),
        }
    }

    /// The notes.
    pub fn notes(&self) -> PathBuf {
        self.folder.join("summary.md")
    }

    /// How far they reach.
    pub fn progress(&self) -> PathBuf {
        self.folder.join("progress.json")
    }

    /// The user's own template.
    pub fn template(&self) -> PathBuf {
        self.folder.join("config").join("template.md")
    }

    /// The user's own prompt.
    pub fn prompt(&self) -> PathBuf {
        self.folder.join("config").join("prompt.md")
    }
}

//! Where the notes of a session are: in the session's folder, next to its sub-agents.

use std::path::{Path, PathBuf};

/// The paths of a session's notes and of the user's own files next to them (S1). None of them need exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesFiles {
    folder: PathBuf,
}

impl NotesFiles {
    /// The paths for the session with this transcript.
    pub fn of_transcript(transcript: &Path) -> Self {
        Self {
            folder: transcript.with_extension("").join("session-memory"),
        }
    }

    /// The path of the notes.
    pub fn notes(&self) -> PathBuf {
        self.folder.join("summary.md")
    }

    /// The path of the file that says how far the notes reach.
    pub fn progress(&self) -> PathBuf {
        self.folder.join("progress.json")
    }

    /// The path of the user's own template.
    pub fn template(&self) -> PathBuf {
        self.folder.join("config").join("template.md")
    }

    /// The path of the user's own prompt.
    pub fn prompt(&self) -> PathBuf {
        self.folder.join("config").join("prompt.md")
    }
}

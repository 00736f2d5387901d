//! How far the notes reach (S5), as kept beside them.
//!
//! The notes are written first, this second: after a crash between the two it points too far back, and a compaction keeps
//! more than it must, never less.

use serde::Deserialize;
use serde_json::json;

/// The state of a session's notes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotesProgress {
    /// The uuid of the last entry that they cover.
    pub last_summarized_uuid: String,
    /// Tokens in the window when they were taken.
    pub tokens: u64,
}

impl NotesProgress {
    /// Reads it; none if it is damaged, since it can then only mislead.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// As it is written.
    pub fn written(&self) -> String {
        let object = json!({
            "lastSummarizedUuid": self.last_summarized_uuid,
            "tokens": self.tokens,
        });
        format!("{object}\n")
    }
}

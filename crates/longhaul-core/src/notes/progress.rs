//! Records how far the notes reach (S5), in a file beside them.
//!
//! The notes are written first and this record second. After a crash between the two, the record points too far back,
//! so a compaction keeps more than it must, never less.

use serde::Deserialize;
use serde_json::json;

/// The progress of a session's notes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotesProgress {
    /// The uuid of the last entry that the notes cover.
    pub last_summarized_uuid: String,
    /// The tokens in the window when the notes were taken.
    pub tokens: u64,
}

impl NotesProgress {
    /// Reads the record. Returns `None` if it is damaged, since it could then only mislead.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// Returns the record as it is written to disk.
    pub fn written(&self) -> String {
        let object = json!({
            "lastSummarizedUuid": self.last_summarized_uuid,
            "tokens": self.tokens,
        });
        format!("{object}\n")
    }
}

//! The model may not overwrite what it does not know (W1).

use std::path::Path;

use crate::files::{FileFingerprint, FileState, KnowledgeStatus};

/// Refuses to write a file that was not read, or that has changed since.
pub(in crate::tools) fn refuse_unless_known(
    files: &FileState,
    path: &Path,
    now: &FileFingerprint,
) -> Result<(), String> {
    let (kept, path) = (files.holds(path, now), path.display());
    match kept {
        KnowledgeStatus::Yes => Ok(()),
        KnowledgeStatus::Unread => Err(format!(
            "{path} has not been read yet in this conversation, or the window has lost it. Read it first, then write."
        )),
        KnowledgeStatus::Changed => Err(format!(
            "{path} has changed on disk since you read it. Read it again, then write."
        )),
    }
}

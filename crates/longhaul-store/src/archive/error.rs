//! Errors of the archive. None of them loses a conversation, because the transcript has it.

use std::path::PathBuf;

use crate::ReadError;

/// An archive could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file is not an intact database. `Archive::mend` begins a new one.
    #[error("{} is damaged ({reason}): it can be made again from the transcript", path.display())]
    Damaged {
        /// The path of the database.
        path: PathBuf,
        /// The message from SQLite.
        reason: String,
    },
    /// Another process held the database for too long.
    #[error("{} is in use by another process: try again when that one is done", path.display())]
    Busy {
        /// The path of the database.
        path: PathBuf,
    },
    /// The file was deleted or replaced while it was open; the items that were put are not kept. Open it again.
    #[error("{} was moved or deleted while it was open", path.display())]
    Moved {
        /// The path of the database.
        path: PathBuf,
    },
    /// A later version of Longhaul created the database.
    #[error("{} was made by a newer Longhaul (format {version}): update Longhaul, or delete that file to have it made again", path.display())]
    Newer {
        /// The path of the database.
        path: PathBuf,
        /// The format version of the database.
        version: i64,
    },
    /// The system or the disk refused the operation.
    #[error("cannot use {}: {reason}. Check the space and the permissions there", path.display())]
    Unusable {
        /// The path of the database.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The transcript to index cannot be read.
    #[error(transparent)]
    Transcript(#[from] ReadError),
}

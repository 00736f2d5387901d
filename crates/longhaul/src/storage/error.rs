//! Why something could not be stored or read back.

use std::path::PathBuf;

use longhaul_store::{AppendError, ReadError};

/// Something could not be stored or read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The transcript could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The transcript could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The archive could not be written.
    #[error(transparent)]
    Archive(#[from] longhaul_store::archive::ArchiveError),
    /// The archive's queue did not accept it.
    #[error(transparent)]
    Queue(#[from] longhaul_store::archive::NotQueued),
    /// Somebody wrote to the transcript since it was read.
    #[error("{} was written to meanwhile; nothing was changed. Try again when the other program is done", path.display())]
    Grown {
        /// The transcript.
        path: PathBuf,
    },
    /// Another error.
    #[error("{0}")]
    Other(String),
}

impl StorageError {
    /// An error of a host's own storage. The message is shown to people, and should say what to do.
    pub fn custom(message: impl std::fmt::Display) -> Self {
        Self::Other(message.to_string())
    }
}

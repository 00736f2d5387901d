//! Where a session is stored, before it is opened: in a file that is not open yet, or in a storage that the host
//! supplied.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::json::ObjectReader;
use longhaul_store::{
    Durability, LoadedTranscript, ResumedConversation, load, load_lines, resume, resume_lines,
};

use super::open_error::OpenError;
use crate::storage::{FileStorage, MemoryStorage, Storage, StorageError};

/// Where a session is stored.
pub(super) enum StoragePlace {
    /// A transcript file, which is opened for writing only after the session is locked and read.
    File {
        transcript: PathBuf,
        archive: Option<PathBuf>,
    },
    /// A storage that is ready.
    Ready(Arc<dyn Storage>),
}

/// What a session is read from.
enum StorageSource<'a> {
    /// A transcript file.
    File(&'a Path),
    /// The storage itself.
    Storage(&'a dyn Storage),
}

/// What a storage holds of a session.
pub(super) struct StoredSession {
    /// The conversation; `None` if the session is new.
    pub(super) resumed: Option<ResumedConversation>,
    /// Where the lines end.
    pub(super) end: u64,
}

impl StoredSession {
    /// The session id that the newest line carries.
    pub(super) fn session_id(&self) -> Option<String> {
        let entries = self.resumed.as_ref()?.entries.iter().rev();
        let mut lines = entries.map(|entry| ObjectReader::new(entry.bytes()));
        lines.find_map(|line| Some(line.string("sessionId")?.into_owned()))
    }
}

impl StoragePlace {
    /// The place that a builder names; without any, the session is kept in memory.
    pub(super) fn of(
        storage: Option<Arc<dyn Storage>>,
        transcript: Option<PathBuf>,
        archive: Option<PathBuf>,
    ) -> Result<Self, OpenError> {
        match (storage, transcript) {
            (Some(_), Some(_)) => Err(OpenError::Contradiction(
                "a session has one storage: set either `storage` or `transcript` on the builder",
            )),
            (Some(_), None) if archive.is_some() => Err(OpenError::Contradiction(
                "`archive` on the builder belongs to `transcript`: give the archive to the storage, as with \
                 `FileStorage::with_archive`",
            )),
            (Some(storage), None) => Ok(Self::Ready(storage)),
            (None, Some(transcript)) => Ok(Self::File {
                transcript,
                archive,
            }),
            (None, None) => Ok(Self::Ready(Arc::new(MemoryStorage::new()))),
        }
    }

    /// The transcript file, if there is one.
    pub(super) fn transcript(&self) -> Option<&Path> {
        match self.source() {
            StorageSource::File(path) => Some(path),
            StorageSource::Storage(_) => None,
        }
    }

    /// Reads the conversation: of a file only the end that is still in view.
    pub(super) fn read(&self) -> Result<StoredSession, OpenError> {
        match self.source() {
            StorageSource::File(path) => {
                let end = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
                let resumed = path.exists().then(|| resume(path)).transpose()?;
                Ok(StoredSession { resumed, end })
            }
            StorageSource::Storage(storage) => {
                let lines = storage.load()?;
                let resumed = (!lines.is_empty()).then(|| resume_lines(&lines));
                Ok(StoredSession {
                    resumed: resumed.transpose().map_err(StorageError::custom)?,
                    end: lines.iter().map(|line| line.len() as u64 + 1).sum(),
                })
            }
        }
    }

    /// Reads the whole transcript.
    pub(super) fn read_whole(&self) -> Result<LoadedTranscript, OpenError> {
        match self.source() {
            StorageSource::File(path) => Ok(load(path)?),
            StorageSource::Storage(storage) => {
                Ok(load_lines(&storage.load()?).map_err(StorageError::custom)?)
            }
        }
    }

    fn source(&self) -> StorageSource<'_> {
        match self {
            Self::File { transcript, .. } => StorageSource::File(transcript),
            Self::Ready(storage) => match storage.transcript_path() {
                Some(path) => StorageSource::File(path),
                None => StorageSource::Storage(&**storage),
            },
        }
    }

    /// Opens the storage for writing.
    pub(super) fn open(self, durability: Durability) -> Result<Arc<dyn Storage>, StorageError> {
        match self {
            Self::Ready(storage) => Ok(storage),
            Self::File {
                transcript,
                archive,
            } => {
                let file = FileStorage::with_durability(transcript, durability)?;
                let file = match archive {
                    Some(archive) => file.with_archive(archive)?,
                    None => file,
                };
                Ok(Arc::new(file))
            }
        }
    }
}

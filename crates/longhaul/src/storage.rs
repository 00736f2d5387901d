//! The storage of a session: a transcript, and an archive beside it.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use longhaul_core::message::Entry;
use longhaul_store::archive::{ArchiveBatch, ArchiveWriter, ArchivedPart, ViewPresence};
use longhaul_store::{AppendError, Durability, TranscriptWriter};

/// Stores a session.
///
/// An implementer acknowledges a write only when it is safe: until then the engine neither sends nor replaces anything.
pub(crate) trait SessionStorage: Send {
    /// Appends lines as one unit. Returns the offset where the first begins.
    fn persist(&mut self, lines: &[Bytes]) -> Result<u64, StorageError>;

    /// Archives what is about to leave the window: whole entries, or the results of these calls.
    fn archive(
        &mut self,
        entries: Vec<Entry>,
        results: Option<Vec<String>>,
    ) -> Result<ArchiveLocation, StorageError>;

    /// Whether writes may have to wait for a disk or a lock: then they run on a thread of their own.
    fn waits(&self) -> BlockingWrites {
        BlockingWrites::Perhaps
    }
}

/// Whether a write may block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockingWrites {
    /// A write may block.
    Perhaps,
    /// A write never blocks.
    Never,
}

/// Where entries that leave the window can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchiveLocation {
    /// They are in the archive.
    InArchive,
    /// There is no archive: they are only in the transcript.
    InTranscript,
}

/// Something could not be stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The transcript could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
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

/// Stores a session in files.
#[derive(Debug)]
pub(crate) struct FileStorage {
    transcript: TranscriptWriter,
    /// Where the file ends, if nobody else may have written to it.
    end: Option<u64>,
    archive: Option<ArchiveWriter>,
}

impl FileStorage {
    /// Opens a transcript for appending, with the archive at this path.
    pub(crate) fn open(
        transcript: &Path,
        archive: Option<PathBuf>,
        durability: Durability,
    ) -> Result<Self, StorageError> {
        Self::known_as(transcript, archive, transcript, durability)
    }

    /// Opens a transcript that will later be found under another path than the one where it is written now.
    pub(crate) fn known_as(
        transcript: &Path,
        archive: Option<PathBuf>,
        name: &Path,
        durability: Durability,
    ) -> Result<Self, StorageError> {
        let writer = TranscriptWriter::open(transcript, durability)?;
        let archive = archive
            .map(|path| ArchiveWriter::start(path, name.to_owned()))
            .transpose()
            .map_err(|error| {
                StorageError::Other(format!("the archive cannot be opened: {error}"))
            })?;
        Ok(Self {
            transcript: writer,
            end: None,
            archive,
        })
    }

    /// Refuses to append once another process has appended: a caller that read the transcript up to here would cut off
    /// what came since.
    #[must_use]
    pub(crate) fn only_after(mut self, end: u64) -> Self {
        self.end = Some(end);
        self
    }
}

impl SessionStorage for FileStorage {
    fn persist(&mut self, lines: &[Bytes]) -> Result<u64, StorageError> {
        let path = self.transcript.path();
        let size = || std::fs::metadata(path).map(|metadata| metadata.len());
        if let Some(end) = self.end
            && !size().is_ok_and(|size| size == end)
        {
            return Err(StorageError::Grown {
                path: path.to_owned(),
            });
        }
        let appended = self.transcript.append_all(lines)?;
        let end = appended.offset + appended.bytes;
        self.end = self.end.map(|_| end);
        Ok(appended.offset)
    }

    fn archive(
        &mut self,
        entries: Vec<Entry>,
        results: Option<Vec<String>>,
    ) -> Result<ArchiveLocation, StorageError> {
        let Some(archive) = &self.archive else {
            return Ok(ArchiveLocation::InTranscript);
        };
        let (part, presence) = match results {
            Some(results) => (ArchivedPart::Results(results), ViewPresence::Cleared),
            None => (ArchivedPart::Whole, ViewPresence::Summarised),
        };
        // Sent as one batch, because the queue counts pieces. The batch also tells the archive which calls are in it.
        archive.archive(&ArchiveBatch {
            entries,
            part,
            presence,
        })?;
        archive.flush()?;
        Ok(ArchiveLocation::InArchive)
    }
}

/// Stores a session in memory, for trying things out.
#[derive(Debug, Default)]
pub(crate) struct MemoryStorage {
    /// The transcript.
    pub transcript: Vec<u8>,
}

impl SessionStorage for MemoryStorage {
    fn persist(&mut self, lines: &[Bytes]) -> Result<u64, StorageError> {
        let offset = self.transcript.len() as u64;
        for line in lines {
            self.transcript.extend_from_slice(line);
            self.transcript.push(b'\n');
        }
        Ok(offset)
    }

    fn archive(
        &mut self,
        _: Vec<Entry>,
        _: Option<Vec<String>>,
    ) -> Result<ArchiveLocation, StorageError> {
        Ok(ArchiveLocation::InTranscript)
    }

    fn waits(&self) -> BlockingWrites {
        BlockingWrites::Never
    }
}

//! A storage in files: a transcript, and an archive beside it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use longhaul_store::archive::{ArchiveBatch, ArchiveWriter, ArchivedPart, ViewPresence};
use longhaul_store::{Durability, LoadedLine, TranscriptWriter};

use super::{
    AppendPosition, ArchiveLocation, DepartingEntries, DepartingPart, Storage, StorageError,
};

/// Stores a session in a transcript file, in the format that Claude Code writes.
///
/// An append takes the file's lock, writes once and syncs before it acknowledges, unless the [`Durability`] says
/// otherwise; the file is only ever appended to. [`SessionBuilder::transcript`](crate::SessionBuilder::transcript) uses
/// this storage.
#[derive(Debug)]
pub struct FileStorage {
    path: PathBuf,
    transcript: Mutex<OpenTranscript>,
    archive: Option<ArchiveWriter>,
}

#[derive(Debug)]
struct OpenTranscript {
    writer: TranscriptWriter,
    /// Where the file ends, if nobody else may write to it.
    end: Option<u64>,
}

impl FileStorage {
    /// Opens a transcript for appending, or creates an empty one, with every append synced.
    ///
    /// # Errors
    /// If the file cannot be opened or created.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StorageError> {
        Self::with_durability(path, Durability::EveryAppend)
    }

    /// Opens a transcript, and says when lines count as safe.
    ///
    /// # Errors
    /// If the file cannot be opened or created.
    pub fn with_durability(
        path: impl AsRef<Path>,
        durability: Durability,
    ) -> Result<Self, StorageError> {
        let path = path.as_ref();
        let writer = TranscriptWriter::open(path, durability)?;
        Ok(Self {
            path: path.to_owned(),
            transcript: Mutex::new(OpenTranscript { writer, end: None }),
            archive: None,
        })
    }

    /// Archives in this database what leaves the window, so that it can be recalled.
    ///
    /// # Errors
    /// If the archive cannot be opened.
    pub fn with_archive(self, archive: impl Into<PathBuf>) -> Result<Self, StorageError> {
        let transcript = self.path.clone();
        self.with_archive_of(archive.into(), transcript)
    }

    /// Archives what leaves the window of a transcript that will later be found under another path than the one where
    /// it is written now.
    pub(crate) fn with_archive_of(
        mut self,
        archive: PathBuf,
        known_as: PathBuf,
    ) -> Result<Self, StorageError> {
        let archive = ArchiveWriter::start(archive, known_as).map_err(|error| {
            StorageError::Other(format!("the archive cannot be opened: {error}"))
        })?;
        self.archive = Some(archive);
        Ok(self)
    }

    /// Refuses to append once another process has appended: a caller that read the transcript up to here would cut off
    /// what came since.
    #[must_use]
    pub(crate) fn only_after(mut self, end: u64) -> Self {
        let transcript = self.transcript.get_mut();
        transcript.unwrap_or_else(PoisonError::into_inner).end = Some(end);
        self
    }
}

impl Storage for FileStorage {
    fn load(&self) -> Result<Vec<Bytes>, StorageError> {
        let loaded = longhaul_store::load(&self.path)?;
        let entries = loaded.lines().iter().filter_map(LoadedLine::entry);
        Ok(entries.map(|entry| entry.bytes().clone()).collect())
    }

    fn append(&self, lines: &[Bytes]) -> Result<AppendPosition, StorageError> {
        let transcript = self.transcript.lock();
        let mut transcript = transcript.unwrap_or_else(PoisonError::into_inner);
        let size = || std::fs::metadata(&self.path).map(|metadata| metadata.len());
        if let Some(end) = transcript.end
            && !size().is_ok_and(|size| size == end)
        {
            return Err(StorageError::Grown {
                path: self.path.clone(),
            });
        }
        let appended = transcript.writer.append_all(lines)?;
        let end = appended.offset + appended.bytes;
        transcript.end = transcript.end.map(|_| end);
        Ok(AppendPosition::Offset(appended.offset))
    }

    fn archive(&self, departing: DepartingEntries) -> Result<ArchiveLocation, StorageError> {
        let Some(archive) = &self.archive else {
            return Ok(ArchiveLocation::InTranscript);
        };
        let (part, presence) = match departing.part {
            DepartingPart::Results(calls) => (ArchivedPart::Results(calls), ViewPresence::Cleared),
            DepartingPart::Whole => (ArchivedPart::Whole, ViewPresence::Summarized),
        };
        // Sent as one batch, because the queue counts pieces. The batch also tells the archive which calls are in it.
        archive.archive(&ArchiveBatch {
            entries: departing.entries,
            part,
            presence,
        })?;
        archive.flush()?;
        Ok(ArchiveLocation::InArchive)
    }

    fn transcript_path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

//! How far a transcript has been indexed, and whether it is still the same file.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use rusqlite::{OptionalExtension, Transaction, params};

use super::{Archive, ArchiveError};

/// The recorded state of an indexed transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexedTranscript {
    pub(super) path: String,
    /// The size and the modification time when the file was last read to its end; 0 while that is in progress.
    pub(super) bytes: u64,
    pub(super) modified: i64,
    /// The number of bytes that are indexed, in whole lines, and their hash.
    pub(super) indexed: u64,
    pub(super) hash: u128,
}

impl IndexedTranscript {
    /// The state of a transcript that has not been indexed.
    pub(super) fn unread(path: &Path) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
            bytes: 0,
            modified: 0,
            indexed: 0,
            hash: 0,
        }
    }

    /// Whether the file is unchanged since it was read to its end.
    pub(super) fn is_current(&self, metadata: &Metadata) -> bool {
        self.bytes == metadata.len() && self.modified == modified(metadata) && self.bytes > 0
    }

    pub(super) fn save(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut statement = transaction.prepare_cached(
            "INSERT OR REPLACE INTO source (only, path, bytes, modified, indexed, hash)
             VALUES (1, ?1, ?2, ?3, ?4, ?5)",
        )?;
        statement.execute(params![
            self.path,
            self.bytes as i64,
            self.modified,
            self.indexed as i64,
            self.hash.to_be_bytes(),
        ])?;
        Ok(())
    }
}

impl Archive {
    /// The recorded state of a transcript; `None` if another one was indexed here.
    pub(super) fn source(&self, path: &Path) -> Result<Option<IndexedTranscript>, ArchiveError> {
        let found = self
            .connection
            .query_row(
                "SELECT path, bytes, modified, indexed, hash FROM source",
                [],
                |row| {
                    Ok(IndexedTranscript {
                        path: row.get(0)?,
                        bytes: row.get::<_, i64>(1)?.unsigned_abs(),
                        modified: row.get(2)?,
                        indexed: row.get::<_, i64>(3)?.unsigned_abs(),
                        hash: u128::from_be_bytes(row.get(4)?),
                    })
                },
            )
            .optional()
            .map_err(|error| self.failed(error))?;
        Ok(found.filter(|source| source.path == path.to_string_lossy()))
    }
}

/// The modification time of a file, in nanoseconds.
pub(super) fn modified(metadata: &Metadata) -> i64 {
    let since = (metadata.modified().ok())
        .and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(0))
}

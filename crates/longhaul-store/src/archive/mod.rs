//! The archive: what was cleared or summarised, and whatever else a transcript holds, found again by the id of its
//! call, by file path, or by words (X2, U2).
//!
//! The transcript never loses a byte, so the archive is first of all an index over it, and [`Archive::index`] makes it
//! from the transcript alone. It keeps the texts too: a transcript may be deleted, or lie on another machine.
//!
//! **One SQLite database a session, in the session's folder under our home** ([`archive_path`]). So a purge deletes it
//! with the session and needs to look into nothing; a fork, which is a new session with all lines of the old one, gets
//! its own from its own transcript, and deleting either leaves the other whole; and two sessions at work never wait for
//! each other. Two processes on one session do, for the length of a commit: write-ahead logging, a busy timeout, and
//! rows that are the same whoever writes them first. Another program's transcript is indexed under our home as well,
//! never beside its own files.
//!
//! **Acknowledged means on disk**: every commit is synced (`synchronous=FULL`). A database that is damaged is moved
//! aside and begun anew ([`Notice`]); nothing is lost by that while the transcript exists.
//!
//! Rooms: `item` what is kept · `entries` items made from entries · `put` writing · `words`, `query`, `snippet`,
//! `lookup` finding · `index`, `presence`, `source` following a transcript · `place`, `open`, `schema` the file · `writer` all of it
//! off the turn · `tool` what a model may call.

mod entries;
mod error;
mod index;
mod item;
mod lookup;
mod open;
mod place;
mod presence;
mod put;
mod query;
mod record;
mod schema;
mod snippet;
mod source;
pub mod tool;
mod words;
mod writer;

use std::path::{Path, PathBuf};

use rusqlite::Connection;

pub use entries::ItemReader;
pub use error::ArchiveError;
pub use index::{IndexingOutcome, IndexingProgress, IndexingResult};
pub use item::{ArchiveItem, ArchiveItemKind, ViewPresence};
pub use lookup::{PathMatch, SearchHit, SearchResults, SearchScope, WordMatch};
pub use open::ArchiveNotice;
pub use place::archive_path;
pub use record::{ArchiveRecord, TextPage};
pub use snippet::{Snippet, SnippetPiece};
pub use writer::{ArchiveBatch, ArchiveWriter, ArchivedPart, NotQueued};

pub(crate) use place::is_archive_name;

/// An open archive. Each thread opens its own.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    connection: Connection,
    identity: open::FileIdentity,
    notice: Option<ArchiveNotice>,
}

impl Archive {
    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What opening it had to do that a person may want to know.
    pub fn notice(&self) -> Option<&ArchiveNotice> {
        self.notice.as_ref()
    }

    /// An error of the database as one of ours.
    fn failed(&self, error: rusqlite::Error) -> ArchiveError {
        ArchiveError::from_sqlite(&self.path, error)
    }
}

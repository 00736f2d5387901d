//! The archive: it finds cleared and summarized content, and everything else in a transcript, by the id of its call, by
//! file path, or by words (X2, U2).
//!
//! The transcript never loses a byte, so the archive is first of all an index over it, and [`Archive::index`] builds it
//! from the transcript alone. It keeps the texts too, because a transcript may be deleted, or lie on another machine.
//!
//! **Each session has one SQLite database, in the session's folder under our home** ([`archive_path`]). So a purge
//! deletes it with the session and need not look inside; a fork, which is a new session with all lines of the old one,
//! gets its own archive from its own transcript, and deleting either leaves the other whole; and two active sessions
//! never wait for each other. Two processes on one session do, for the length of a commit: write-ahead logging, a busy
//! timeout, and rows that are the same whoever writes them first. Another program's transcript is indexed under our
//! home as well, never next to its own files.
//!
//! **Acknowledged means on disk**: every commit is synced (`synchronous=FULL`). A damaged database is moved aside and a
//! new one is begun ([`ArchiveNotice`]); nothing is lost by that while the transcript exists.
//!
//! Modules: `item` is what the archive keeps; `entries` makes items from entries; `put` writes them; `words`, `query`,
//! `snippet` and `lookup` find them; `index`, `presence` and `source` follow a transcript; `place`, `open` and `schema`
//! handle the file; `writer` does all of it outside the turn; `tool` is what a model may call.

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
mod writable;
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
pub use writable::check_writable;
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
    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A notice for people about what opening the archive had to do.
    pub fn notice(&self) -> Option<&ArchiveNotice> {
        self.notice.as_ref()
    }

    /// Converts an error of the database.
    fn failed(&self, error: rusqlite::Error) -> ArchiveError {
        ArchiveError::from_sqlite(&self.path, error)
    }
}

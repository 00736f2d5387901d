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
//! Without the feature `sqlite` there is no archive: [`ArchiveWriter::start`] says so, and the transcript alone keeps
//! what left the view.
//!
//! Modules: `item` is what the archive keeps, `batch` how it is handed over, `place` where the file is; `sqlite/` is the
//! database and everything that needs it, and `no_writer` stands in for its writer where it is not compiled in.

mod batch;
mod error;
mod item;
#[cfg(not(feature = "sqlite"))]
mod no_writer;
mod place;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use batch::{ArchiveBatch, ArchivedPart, NotQueued};
pub use error::ArchiveError;
pub use item::{ArchiveItem, ArchiveItemKind, ViewPresence};
#[cfg(not(feature = "sqlite"))]
pub use no_writer::AbsentArchiveWriter as ArchiveWriter;
pub use place::archive_path;
#[cfg(feature = "sqlite")]
pub use sqlite::{
    Archive, ArchiveNotice, ArchiveRecord, ArchiveWriter, IndexingOutcome, IndexingProgress,
    IndexingResult, ItemReader, PathMatch, SearchHit, SearchResults, SearchScope, Snippet,
    SnippetPiece, TextPage, WordMatch, check_writable, tool,
};

pub(crate) use place::is_archive_name;

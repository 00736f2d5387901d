//! The archive's database, and everything that needs it. What it is for is said one level up.
//!
//! Modules: `entries` makes items from entries; `put` writes them; `words`, `query`, `snippet` and `lookup` find them;
//! `index`, `presence` and `source` follow a transcript; `open`, `schema` and `error` handle the file; `writer` does all
//! of it outside the turn; `tool` is what a model may call.

mod entries;
mod error;
mod index;
mod lookup;
mod open;
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

use super::{ArchiveError, batch, item};

pub use entries::ItemReader;
pub use index::{IndexingOutcome, IndexingProgress, IndexingResult};
pub use lookup::{PathMatch, SearchHit, SearchResults, SearchScope, WordMatch};
pub use open::ArchiveNotice;
pub use record::{ArchiveRecord, TextPage};
pub use snippet::{Snippet, SnippetPiece};
pub use writable::check_writable;
pub use writer::ArchiveWriter;

/// An open archive. Each thread opens its own.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    connection: Connection,
    identity: Option<crate::FileIdentity>,
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

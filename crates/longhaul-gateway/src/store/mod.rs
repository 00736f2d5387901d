//! The books: which lines there are, what each call used, cost and found. Never bodies, never keys.
//!
//! [`Store`] is the seam; [`Sqlite`] keeps a file, [`Memory`] nothing. Writing is batched off the path of requests by
//! the bookkeeper (`watch/`).

mod memory;
mod record;
mod sqlite;

use std::path::PathBuf;

use futures_util::future::BoxFuture;
use jiff::Timestamp;

pub use memory::Memory;
pub use record::{CallRecord, Ended, LineRecord, Purged, Record, SessionRow};
pub use sqlite::Sqlite;

use crate::line::{LineId, Restored, SessionId, Tenant};

/// Why the books cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be made or opened.
    #[error("cannot open the store {}: {reason}", path.display())]
    Open {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file was written by a later version.
    #[error("the store {} has format {found}, and this version knows {known}; use a newer longhaul, or another store", path.display())]
    Newer {
        /// Which.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest known here.
        known: i64,
    },
    /// Reading or writing failed.
    #[error("the store failed: {0}")]
    Failed(String),
}

/// What there is to know at a start.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Lines, the oldest first.
    pub lines: Vec<Restored>,
    /// Keys and the organisations they belong to.
    pub tenants: Vec<(Tenant, Tenant)>,
}

/// Keeps the books. An implementer makes each batch durable as a whole or not at all, in the order given.
pub trait Store: Send + Sync + 'static {
    /// Writes a batch.
    fn append(&self, batch: Vec<Record>) -> BoxFuture<'_, Result<(), StoreError>>;
    /// What is needed to recognise conversations again: the newest so many lines.
    fn known(&self, most: usize) -> BoxFuture<'_, Result<Known, StoreError>>;
    /// The newest sessions.
    fn sessions(&self, most: usize) -> BoxFuture<'_, Result<Vec<SessionRow>, StoreError>>;
    /// The newest calls of a session with the line of each, oldest first.
    fn calls(
        &self,
        session: SessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<(LineId, CallRecord)>, StoreError>>;
    /// Deletes what was last seen before a time.
    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<Purged, StoreError>>;
}

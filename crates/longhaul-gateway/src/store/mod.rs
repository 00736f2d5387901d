//! What is kept. The books: which lines there are, what each call used, cost and found; never bodies. The shelf: what
//! stands for beginnings of histories, and the notes of sessions ([`NotesShelf`]), which is text of conversations. Never keys.
//!
//! [`Store`] and [`Shelf`] are the seams; [`Sqlite`] keeps a file, [`Memory`] nothing, [`Postgres`] is shared by many
//! gateways, which tell each other through [`Peers`] where lines stand. Books are written in batches off
//! the path of requests by the bookkeeper (`watch/`); what is put on the shelf is durable before it is used.

mod claims;
mod columns;
mod compacted_prefix;
mod health;
mod memory;
mod notes;
mod postgres;
mod record;
mod rows;
mod sealed;
mod sqlite;

use futures_util::future::BoxFuture;
use jiff::Timestamp;

pub use compacted_prefix::{CompactedPrefix, CompactedPrefixKind, PrefixProvenance};
pub use health::StoreHealth;
pub use memory::InMemoryStore;
pub use notes::{NotesRecord, NotesStore};
pub use postgres::PostgresStore;
pub use record::{BranchRecord, CallEnding, CallRecord, PurgeCounts, SessionRow, UsageLogRecord};
pub use sealed::{Sealable, Sealed};
pub use sqlite::SqliteStore;

use crate::branch::{LineId, RestoredBranch, SessionId, Tenant};

/// Why the books cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be made or opened, or the server cannot be reached.
    #[error("cannot open the store {place}: {reason}")]
    Open {
        /// Which; without a password.
        place: String,
        /// Why.
        reason: String,
    },
    /// It was written by a later version.
    #[error(
        "the store {place} has format {found}, and this version knows {known}; use a newer longhaul, or another store"
    )]
    Newer {
        /// Which; without a password.
        place: String,
        /// Its format.
        found: i64,
        /// The newest known here.
        known: i64,
    },
    /// Reading or writing failed.
    #[error("the store failed: {0}")]
    Failed(String),
    /// It does not answer.
    #[error("the store does not answer: {0}")]
    NoAnswer(String),
    /// It did not answer a moment ago.
    #[error("the store did not answer a moment ago and is left alone for a while")]
    Resting,
}

/// What there is to know at a start.
#[derive(Debug, Clone, Default)]
pub struct StartupState {
    /// Lines, the oldest first.
    pub lines: Vec<RestoredBranch>,
    /// Keys and the organisations they belong to.
    pub tenants: Vec<(Tenant, Tenant)>,
}

/// Keeps the books. An implementer makes each batch durable as a whole or not at all, in the order given.
pub trait UsageLogStore: Send + Sync + 'static {
    /// Writes a batch.
    fn append(&self, batch: Vec<UsageLogRecord>) -> BoxFuture<'_, Result<(), StoreError>>;
    /// What is needed to recognise conversations again: the newest so many lines.
    fn known(&self, most: usize) -> BoxFuture<'_, Result<StartupState, StoreError>>;
    /// The newest sessions.
    fn sessions(&self, most: usize) -> BoxFuture<'_, Result<Vec<SessionRow>, StoreError>>;
    /// The newest calls of a session with the line of each, oldest first.
    fn calls(
        &self,
        session: SessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<(LineId, CallRecord)>, StoreError>>;
    /// Deletes what was last seen before a time.
    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<PurgeCounts, StoreError>>;
}

/// A rewrite in a list: whose, at which hash, and for how many messages it stands.
pub type Listed = (Tenant, u128, u32);

/// A claim to work on something; given back when dropped.
pub trait Claim: Send + Sync {}

/// Keeps what stands for the beginnings of histories. With a store that several gateways share, each sees what the
/// others put. Whoever takes something from it looks at the seal.
pub trait PrefixStore: StoreHealth {
    /// Puts a rewrite with its seal; one for the same history is replaced. Durable when this returns.
    fn put(&self, rewrite: Sealed<CompactedPrefix>) -> BoxFuture<'_, Result<(), StoreError>>;
    /// Of the rewrites at these hashes the one that stands for the most messages, if it stands for more than `least`.
    fn find(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
        least: u32,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>>;
    /// Deletes the rewrite for a history.
    fn discard(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>>;
    /// Which rewrites there are; none where other processes put some too, so that only asking tells.
    fn index(&self) -> BoxFuture<'_, Result<Option<Vec<Listed>>, StoreError>>;
    /// A claim that nobody else, in any process, has at the same time; none if somebody has. A process that dies gives
    /// its claims back.
    fn claim(&self, key: u64) -> BoxFuture<'_, Result<Option<Box<dyn Claim>>, StoreError>>;
    /// How the newest rewrites of a session came about, the oldest first.
    fn made(
        &self,
        session: SessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<PrefixProvenance>, StoreError>>;
}

/// Books, shelf and notes in one.
pub trait GatewayStorage: UsageLogStore + PrefixStore + NotesStore {}

impl<S: UsageLogStore + PrefixStore + NotesStore> GatewayStorage for S {}

/// What gateways that share a store know of each other. A line is written ([`Store::append`]) before its answer is passed
/// on, so that whoever takes the next request finds it.
pub trait PeerStore: StoreHealth {
    /// Of the heads of lines at these hashes the one with the most messages, and behind it the newest head of its line
    /// if that is another: what to restore, in this order. Nothing if none is known.
    fn branch_tips_at(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Vec<RestoredBranch>, StoreError>>;
}

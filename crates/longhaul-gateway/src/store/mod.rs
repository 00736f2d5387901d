//! The gateway's stores. The usage log: which branches there are, and the usage, cost and cache findings of each call;
//! never bodies. The prefix store: compacted prefixes, the notes of sessions ([`NotesStore`]) and what recall needs
//! ([`RecallStore`]), which is text of conversations. Keys are never stored.
//!
//! [`UsageLogStore`] and [`PrefixStore`] are the interfaces; [`SqliteStore`] uses a file, [`InMemoryStore`] only
//! memory, and a PostgreSQL server (feature `postgres`, [`open_shared_store`]) is shared by many gateways, which share
//! the tips of their branches through [`PeerStore`].
//! The usage log is written in batches, off the path of requests, by its writer (`watch/`); compacted prefixes are
//! durable before they are used.

mod claims;
mod columns;
mod compacted_prefix;
mod counted_compaction;
mod health;
mod latency;
mod memory;
mod notes;
mod open_shared;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "without_postgres.rs"]
mod postgres;
mod prefix_kind;
mod prefix_provenance;
mod prefix_report;
mod recall;
mod record;
mod rows;
mod sealed;
mod shared;
mod spend;
mod sqlite;

use futures_util::future::BoxFuture;
use jiff::Timestamp;

pub use compacted_prefix::{CompactedPrefix, DerivedRest, HistoryHash, StrippedSpan};
pub use health::StoreHealth;
pub use latency::{CallSpan, LatencyRow};
pub use memory::InMemoryStore;
pub use notes::{NotesRecord, NotesStore};
pub use open_shared::{is_server_url, open_shared_store};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use prefix_kind::CompactedPrefixKind;
pub use prefix_provenance::{PrefixMakingId, PrefixProvenance};
pub use prefix_report::{PrefixReport, ResultThatWent, ResultsThatWent};
pub use recall::{RecallRecord, RecallStore};
pub use record::{
    BranchRecord, CallEnding, CallOrigin, CallRecord, PurgeCounts, SessionRow, UsageLogRecord,
};
pub use sealed::{Sealable, Sealed};
pub use shared::SharedStore;
pub use spend::{SpendDetail, SpendQuery, SpendRow};
pub use sqlite::{ReadOnlyUsageLog, SqliteStore};

use crate::branch::{BranchId, GatewaySessionId, RestoredBranch, Tenant};

/// Why a store cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be created or opened, or the server cannot be reached.
    #[error("cannot open the store {place}: {reason}")]
    Open {
        /// The location of the store, without a password.
        place: String,
        /// The cause.
        reason: String,
    },
    /// The store was written by a later version.
    #[error(
        "the store {place} has format {found}, and this version knows {known}; use a newer longhaul, or another store"
    )]
    Newer {
        /// The location of the store, without a password.
        place: String,
        /// The format of the store.
        found: i64,
        /// The newest format known to this version.
        known: i64,
    },
    /// A server was named, and this build cannot use one.
    #[error(
        "this build has no PostgreSQL (packages have it; `--features postgres` builds it): name a file, as in `--store sqlite:PATH`"
    )]
    NoPostgres,
    /// Reading or writing failed.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The store does not respond.
    #[error("the store does not answer: {0}")]
    NoAnswer(String),
    /// The store recently did not respond.
    #[error("the store did not answer a moment ago and is left alone for a while")]
    Resting,
}

/// What a gateway loads at startup.
#[derive(Debug, Clone, Default)]
pub struct StartupState {
    /// Branches, the oldest first.
    pub lines: Vec<RestoredBranch>,
    /// Keys and the organizations they belong to.
    pub tenants: Vec<(Tenant, Tenant)>,
}

/// Stores the usage log. An implementation makes each batch durable as a whole or not at all, in the order given.
pub trait UsageLogStore: Send + Sync + 'static {
    /// Writes a batch.
    fn append(&self, batch: Vec<UsageLogRecord>) -> BoxFuture<'_, Result<(), StoreError>>;
    /// What is needed to recognize conversations again: the newest branches, at most this many.
    fn known(&self, most: usize) -> BoxFuture<'_, Result<StartupState, StoreError>>;
    /// The newest sessions.
    fn sessions(&self, most: usize) -> BoxFuture<'_, Result<Vec<SessionRow>, StoreError>>;
    /// One session; `None` if it is not there.
    fn session(
        &self,
        session: GatewaySessionId,
    ) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>>;
    /// The newest calls of a session with the branch of each, oldest first.
    fn calls(
        &self,
        session: GatewaySessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<(BranchId, CallRecord)>, StoreError>>;
    /// The newest calls that belong to no conversation, oldest first: those that would have begun one and failed, and those
    /// that were not recognized.
    fn unplaced(&self, most: usize) -> BoxFuture<'_, Result<Vec<CallRecord>, StoreError>>;
    /// What was spent and left out, one row for each day, session, model, agent and tenant as far as the query wants them
    /// apart, in no particular order unless it has a limit.
    fn spend(&self, query: SpendQuery) -> BoxFuture<'_, Result<Vec<SpendRow>, StoreError>>;
    /// How long calls took that arrived since the first time and before the second one.
    fn latency(
        &self,
        since: Timestamp,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<LatencyRow>, StoreError>>;
    /// Deletes what was last seen before this time.
    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<PurgeCounts, StoreError>>;
}

/// A compacted prefix in a list: its tenant, its hash, and the number of replaced messages.
pub type PrefixListing = (Tenant, u128, u32);

/// A claim to work on something; it is released when dropped.
pub trait Claim: Send + Sync {}

/// Stores compacted prefixes. In a store that several gateways share, each sees the prefixes of the others. Readers
/// check the seal.
pub trait PrefixStore: StoreHealth {
    /// Stores a prefix with its seal, and replaces one for the same history. It is durable when this returns.
    fn put(&self, rewrite: Sealed<CompactedPrefix>) -> BoxFuture<'_, Result<(), StoreError>>;
    /// Of the prefixes at these hashes, the one that replaces the most messages, if it replaces more than `least`.
    fn find(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
        least: u32,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>>;
    /// Deletes the prefix for a history.
    fn discard(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>>;
    /// All prefixes; `None` if other processes also add some, so that only a query can tell.
    fn index(&self) -> BoxFuture<'_, Result<Option<Vec<PrefixListing>>, StoreError>>;
    /// A claim that no one else, in any process, has at the same time; `None` if it is taken. The claims of a process
    /// that dies are released.
    fn claim(&self, key: u64) -> BoxFuture<'_, Result<Option<Box<dyn Claim>>, StoreError>>;
    /// How the newest prefixes of a session were made, the oldest first.
    fn made(
        &self,
        session: GatewaySessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<PrefixProvenance>, StoreError>>;
    /// The prefix that was made this way; `None` if another one has replaced it, or if it was deleted.
    fn made_as(
        &self,
        made: PrefixMakingId,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>>;
}

/// Usage log, prefix store, notes store and recall store in one.
pub trait GatewayStorage: UsageLogStore + PrefixStore + NotesStore + RecallStore {}

impl<S: UsageLogStore + PrefixStore + NotesStore + RecallStore> GatewayStorage for S {}

/// What gateways that share a store know of each other. A branch is written ([`UsageLogStore::append`]) before its
/// response is passed on, so that the gateway that gets the next request finds it.
pub trait PeerStore: StoreHealth {
    /// Of the branch tips at these hashes, the one with the most messages, followed by the newest tip of its branch if
    /// that is another one: what to restore, in this order. Empty if none is known.
    fn branch_tips_at(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Vec<RestoredBranch>, StoreError>>;
}

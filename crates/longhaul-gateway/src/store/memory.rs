//! A store that is forgotten when the process ends: the SQLite store without a file.

use futures_util::future::BoxFuture;
use jiff::Timestamp;

use super::{
    CallRecord, Claim, CompactedPrefix, LatencyRow, NotesRecord, NotesStore, PrefixListing,
    PrefixMakingId, PrefixProvenance, PrefixStore, PurgeCounts, RecallRecord, RecallStore, Sealed,
    SessionRow, SpendQuery, SpendRow, SqliteStore, StartupState, StoreError, StoreHealth,
    UsageLogRecord, UsageLogStore,
};
use crate::branch::{BranchId, GatewaySessionId, Tenant};

/// A store that is forgotten when the process ends.
#[derive(Debug)]
pub struct InMemoryStore(SqliteStore);

impl InMemoryStore {
    /// An empty store.
    pub fn new() -> Result<Self, StoreError> {
        SqliteStore::in_memory().map(Self)
    }
}

impl UsageLogStore for InMemoryStore {
    fn append(&self, batch: Vec<UsageLogRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.append(batch)
    }

    fn known(&self, most: usize) -> BoxFuture<'_, Result<StartupState, StoreError>> {
        self.0.known(most)
    }

    fn sessions(&self, most: usize) -> BoxFuture<'_, Result<Vec<SessionRow>, StoreError>> {
        self.0.sessions(most)
    }

    fn session(
        &self,
        session: GatewaySessionId,
    ) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>> {
        self.0.session(session)
    }

    fn calls(
        &self,
        session: GatewaySessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<(BranchId, CallRecord)>, StoreError>> {
        self.0.calls(session, most)
    }

    fn unplaced(&self, most: usize) -> BoxFuture<'_, Result<Vec<CallRecord>, StoreError>> {
        self.0.unplaced(most)
    }

    fn spend(&self, query: SpendQuery) -> BoxFuture<'_, Result<Vec<SpendRow>, StoreError>> {
        self.0.spend(query)
    }

    fn latency(
        &self,
        since: Timestamp,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<LatencyRow>, StoreError>> {
        self.0.latency(since, until)
    }

    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<PurgeCounts, StoreError>> {
        self.0.purge(before)
    }
}

impl StoreHealth for InMemoryStore {
    fn probe(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.probe()
    }
}

impl PrefixStore for InMemoryStore {
    fn put(&self, rewrite: Sealed<CompactedPrefix>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.put(rewrite)
    }

    fn find(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
        least: u32,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>> {
        self.0.find(tenant, at, least)
    }

    fn discard(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.discard(tenant, at)
    }

    fn index(&self) -> BoxFuture<'_, Result<Option<Vec<PrefixListing>>, StoreError>> {
        self.0.index()
    }

    fn claim(&self, key: u64) -> BoxFuture<'_, Result<Option<Box<dyn Claim>>, StoreError>> {
        self.0.claim(key)
    }

    fn made(
        &self,
        session: GatewaySessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<PrefixProvenance>, StoreError>> {
        self.0.made(session, most)
    }

    fn made_as(
        &self,
        made: PrefixMakingId,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>> {
        self.0.made_as(made)
    }
}

impl NotesStore for InMemoryStore {
    fn put_notes(&self, notes: Sealed<NotesRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.put_notes(notes)
    }

    fn find_notes(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Option<Sealed<NotesRecord>>, StoreError>> {
        self.0.find_notes(tenant, at)
    }

    fn discard_notes(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.discard_notes(tenant, at)
    }
}

impl RecallStore for InMemoryStore {
    fn put_recall(&self, record: Sealed<RecallRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.put_recall(record)
    }

    fn find_recall(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Vec<Sealed<RecallRecord>>, StoreError>> {
        self.0.find_recall(tenant, at)
    }
}

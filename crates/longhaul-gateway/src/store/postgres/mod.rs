//! Usage log and prefix store in a PostgreSQL database that several gateways share.
//!
//! `connect` is the connection (pool, timeouts, what is retried; `backoff`: when the server is left alone), `schema`
//! the tables, `write` and `read` the usage log, `prefix_store` the compacted prefixes, `notes` the notes, `claims`
//! which gateway works on which conversation, `peers` the tips of branches.

mod backoff;
mod claims;
mod columns;
mod connect;
mod discard;
mod notes;
mod peers;
mod prefix_store;
mod read;
mod recall;
mod schema;
mod spend;
mod write;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;

use self::backoff::StoreBackoff;
use self::claims::AdvisoryClaims;
use self::connect::{Attempt, PooledConnection, PostgresAddress, PostgresPool};
use self::discard::DiscardTarget;
use super::{
    CallRecord, Claim, CompactedPrefix, LatencyRow, NotesRecord, NotesStore, PeerStore,
    PrefixListing, PrefixMakingId, PrefixProvenance, PrefixStore, PurgeCounts, RecallRecord,
    RecallStore, Sealed, SessionRow, SharedStore, SpendQuery, SpendRow, StartupState, StoreError,
    StoreHealth, UsageLogRecord, UsageLogStore,
};
use crate::branch::{BranchId, GatewaySessionId, RestoredBranch, Tenant, Tenants};

/// How long writing is retried: a server that restarts is waited for.
const WRITING: Duration = Duration::from_secs(30);
/// How long a purge may take.
const PURGING: Duration = Duration::from_secs(300);

/// A store in a PostgreSQL database that several gateways share.
#[derive(Clone)]
pub struct PostgresStore {
    place: PostgresAddress,
    connections: PostgresPool,
    claims: AdvisoryClaims,
    rest: StoreBackoff,
    secret: [u8; schema::SECRET_BYTES],
    dropped: u64,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Postgres").field(&self.place).finish()
    }
}

impl PostgresStore {
    /// Connects to `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…` and creates or migrates the tables. What
    /// the URL leaves out is taken from the environment, as PostgreSQL's own programs do. Must be called on a tokio
    /// runtime.
    ///
    /// # Errors
    /// Returns a [`StoreError`]; none of them contains the password.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let place = PostgresAddress::of(url)?;
        let schema::PreparedSchema { secret, dropped } = schema::prepare(&place).await?;
        let rest = StoreBackoff::default();
        Ok(Self {
            claims: AdvisoryClaims::new(place.clone(), rest.clone()),
            connections: PostgresPool::new(place.clone(), rest.clone()),
            place,
            rest,
            secret,
            dropped,
        })
    }

    /// The tenants, the same for every gateway that uses the database: the secret of the hash is stored there.
    pub fn tenants(&self) -> Tenants {
        Tenants::of_secret(&self.secret)
    }
}

/// Opens the store on a PostgreSQL server, as everything that a gateway needs of it.
pub(super) async fn open_shared(url: &str) -> Result<SharedStore, StoreError> {
    let store = Arc::new(PostgresStore::open(url).await?);
    Ok(SharedStore {
        tenants: store.tenants(),
        peers: Arc::clone(&store) as Arc<dyn PeerStore>,
        store,
    })
}

/// Creates a future for each attempt; it owns the connection, and shares the data that it writes.
macro_rules! attempt {
    (|$connection:ident| $work:expr) => {
        move |mut $connection: PooledConnection| -> Attempt<_> {
            Box::pin(async move { $work.await })
        }
    };
    ($shared:ident, |$connection:ident| $work:expr) => {
        move |mut $connection: PooledConnection| -> Attempt<_> {
            let $shared = Arc::clone(&$shared);
            Box::pin(async move { $work.await })
        }
    };
}

impl UsageLogStore for PostgresStore {
    fn append(&self, batch: Vec<UsageLogRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let batch = Arc::new((batch, write::BatchNumber::draw()?));
            let append = attempt!(batch, |connection| {
                write::append(&mut connection, &batch.0, batch.1)
            });
            self.connections.run(WRITING, append).await
        })
    }

    fn known(&self, most: usize) -> BoxFuture<'_, Result<StartupState, StoreError>> {
        let known = attempt!(|connection| read::known(&mut connection, most));
        Box::pin(self.connections.run(WRITING, known))
    }

    fn sessions(&self, most: usize) -> BoxFuture<'_, Result<Vec<SessionRow>, StoreError>> {
        let sessions = attempt!(|connection| read::sessions(&mut connection, most));
        Box::pin(self.connections.ask(sessions))
    }

    fn session(
        &self,
        session: GatewaySessionId,
    ) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>> {
        let found = attempt!(|connection| read::session(&mut connection, session));
        Box::pin(self.connections.ask(found))
    }

    fn calls(
        &self,
        session: GatewaySessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<(BranchId, CallRecord)>, StoreError>> {
        let calls = attempt!(|connection| read::calls(&mut connection, session, most));
        Box::pin(self.connections.ask(calls))
    }

    fn unplaced(&self, most: usize) -> BoxFuture<'_, Result<Vec<CallRecord>, StoreError>> {
        let calls = attempt!(|connection| read::unplaced(&mut connection, most));
        Box::pin(self.connections.ask(calls))
    }

    fn spend(&self, query: SpendQuery) -> BoxFuture<'_, Result<Vec<SpendRow>, StoreError>> {
        let spend = attempt!(|connection| spend::rows(&mut connection, query));
        Box::pin(self.connections.ask(spend))
    }

    fn latency(
        &self,
        since: Timestamp,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<LatencyRow>, StoreError>> {
        let latency = attempt!(|connection| spend::latency(&mut connection, since, until));
        Box::pin(self.connections.ask(latency))
    }

    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<PurgeCounts, StoreError>> {
        let purge = attempt!(|connection| write::purge(&mut connection, before));
        Box::pin(self.connections.run(PURGING, purge))
    }
}

impl StoreHealth for PostgresStore {
    fn is_backing_off(&self) -> bool {
        self.rest.is_on()
    }

    fn probe(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        let probe = attempt!(|connection| prefix_store::probe(&mut connection));
        Box::pin(self.connections.ask(probe))
    }

    fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl PrefixStore for PostgresStore {
    fn put(&self, rewrite: Sealed<CompactedPrefix>) -> BoxFuture<'_, Result<(), StoreError>> {
        let rewrite = Arc::new(rewrite);
        let put = attempt!(rewrite, |connection| prefix_store::put(
            &mut connection,
            &rewrite
        ));
        Box::pin(self.connections.run(WRITING, put))
    }

    fn find(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
        least: u32,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>> {
        let at = Arc::new(at);
        let find = attempt!(at, |connection| {
            prefix_store::find(&mut connection, tenant, &at, least)
        });
        Box::pin(self.connections.ask(find))
    }

    fn discard(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>> {
        let discard = attempt!(|connection| discard::discard(
            &mut connection,
            DiscardTarget::Rewrite,
            tenant,
            at
        ));
        Box::pin(self.connections.ask(discard))
    }

    fn index(&self) -> BoxFuture<'_, Result<Option<Vec<PrefixListing>>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn claim(&self, key: u64) -> BoxFuture<'_, Result<Option<Box<dyn Claim>>, StoreError>> {
        Box::pin(self.claims.claim(key))
    }

    fn made(
        &self,
        session: GatewaySessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<PrefixProvenance>, StoreError>> {
        let made = attempt!(|connection| prefix_store::made_in(&mut connection, session, most));
        Box::pin(self.connections.ask(made))
    }

    fn made_as(
        &self,
        made: PrefixMakingId,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>> {
        let found = attempt!(|connection| prefix_store::made_as(&mut connection, made));
        Box::pin(self.connections.ask(found))
    }
}

impl NotesStore for PostgresStore {
    fn put_notes(&self, record: Sealed<NotesRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        let record = Arc::new(record);
        let put = attempt!(record, |connection| notes::put(&mut connection, &record));
        Box::pin(self.connections.run(WRITING, put))
    }

    fn find_notes(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Option<Sealed<NotesRecord>>, StoreError>> {
        let at = Arc::new(at);
        let find = attempt!(at, |connection| notes::find(&mut connection, tenant, &at));
        Box::pin(self.connections.ask(find))
    }

    fn discard_notes(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>> {
        let discard = attempt!(|connection| discard::discard(
            &mut connection,
            DiscardTarget::Notes,
            tenant,
            at
        ));
        Box::pin(self.connections.ask(discard))
    }
}

impl RecallStore for PostgresStore {
    fn put_recall(&self, record: Sealed<RecallRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        let record = Arc::new(record);
        let put = attempt!(record, |connection| recall::put(&mut connection, &record));
        Box::pin(self.connections.run(WRITING, put))
    }

    fn find_recall(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Vec<Sealed<RecallRecord>>, StoreError>> {
        let (at, now) = (Arc::new(at), Timestamp::now());
        let find = attempt!(at, |connection| recall::find(
            &mut connection,
            tenant,
            &at,
            now
        ));
        Box::pin(self.connections.ask(find))
    }
}

impl PeerStore for PostgresStore {
    fn branch_tips_at(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Vec<RestoredBranch>, StoreError>> {
        let at = Arc::new(at);
        let heads = attempt!(at, |connection| peers::branch_tips_at(
            &mut connection,
            tenant,
            &at
        ));
        Box::pin(self.connections.ask(heads))
    }
}

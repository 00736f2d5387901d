//! The gateway's stores in an SQLite file, with a write-ahead log so that reading never waits for writing. `connection`
//! opens the file, `schema` has the tables, and the other modules read and write one kind of thing each.

mod connection;
mod database_file;
mod notes;
mod prefix_store;
mod read;
mod read_only;
mod recall;
mod schema;
mod spend;
mod write;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use rusqlite::Connection;

use self::connection::{OpenedDatabase, durably, failed};
use self::database_file::DatabaseFile;
pub use self::read_only::ReadOnlyUsageLog;
use super::claims::LocalClaims;
use super::{
    CallRecord, Claim, CompactedPrefix, LatencyRow, NotesRecord, NotesStore, PrefixListing,
    PrefixMakingId, PrefixProvenance, PrefixStore, PurgeCounts, RecallRecord, RecallStore, Sealed,
    SessionRow, SpendQuery, SpendRow, StartupState, StoreError, StoreHealth, UsageLogRecord,
    UsageLogStore,
};
use crate::branch::{BranchId, GatewaySessionId, Tenant};

/// The gateway's stores in an SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    /// `None` if there is no file.
    place: Option<Arc<DatabaseFile>>,
    writing: Arc<Mutex<Connection>>,
    reading: Arc<Mutex<Connection>>,
    claims: LocalClaims,
    dropped: u64,
}

/// The purpose of a connection.
#[derive(Debug, Clone, Copy)]
enum ConnectionUse {
    Writing,
    Reading,
}

impl SqliteStore {
    /// Opens the file. A missing one is created as a private file, with its parent folders.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let opened = OpenedDatabase::at(path)?;
        Ok(Self {
            place: Some(Arc::new(DatabaseFile::of(path))),
            writing: Arc::new(Mutex::new(opened.writing)),
            reading: Arc::new(Mutex::new(opened.reading)),
            claims: LocalClaims::default(),
            dropped: opened.dropped,
        })
    }

    pub(super) fn in_memory() -> Result<Self, StoreError> {
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        schema::migrate(&mut connection).map_err(failed)?;
        let connection = Arc::new(Mutex::new(connection));
        Ok(Self {
            place: None,
            writing: Arc::clone(&connection),
            reading: connection,
            claims: LocalClaims::default(),
            dropped: 0,
        })
    }

    /// Opens the file again, if it was deleted or replaced.
    fn reopen_if_replaced(&self) -> Result<(), StoreError> {
        let Some(place) = &self.place else {
            return Ok(());
        };
        let opened = place.open_if_gone(|path| {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
            // Close the old connections first: that deletes the log beside the file, even if it belongs to the
            // new file.
            *writing = Connection::open_in_memory().map_err(failed)?;
            *reading = Connection::open_in_memory().map_err(failed)?;
            let opened = OpenedDatabase::at(path)?;
            *writing = opened.writing;
            *reading = opened.reading;
            Ok(())
        })?;
        if opened {
            let path = place.path().display();
            tracing::warn!(%path, "the store was deleted or replaced while it was in use; it was opened again, and its former contents are gone");
        }
        Ok(())
    }

    /// Runs on a thread where waiting for the disk delays no request.
    fn blocking<T: Send + 'static>(
        &self,
        connection: ConnectionUse,
        run: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let store = self.clone();
        Box::pin(async move {
            let work = tokio::task::spawn_blocking(move || {
                store.reopen_if_replaced()?;
                let connection = match connection {
                    ConnectionUse::Writing => &store.writing,
                    ConnectionUse::Reading => &store.reading,
                };
                let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                run(&mut connection).map_err(failed)
            });
            let done = work.await;
            done.map_err(|error| StoreError::Failed(error.to_string()))?
        })
    }
}

impl StoreHealth for SqliteStore {
    fn probe(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.blocking(ConnectionUse::Writing, |connection| {
            durably(connection, |connection| {
                let now = Timestamp::now().as_millisecond();
                let probe = "INSERT OR REPLACE INTO probe (id, at) VALUES (1, ?)";
                connection.execute(probe, [now]).map(drop)
            })
        })
    }

    fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl UsageLogStore for SqliteStore {
    fn append(&self, batch: Vec<UsageLogRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.blocking(ConnectionUse::Writing, move |connection| {
            write::append(connection, &batch)
        })
    }

    fn known(&self, most: usize) -> BoxFuture<'_, Result<StartupState, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            read::known(connection, most)
        })
    }

    fn sessions(&self, most: usize) -> BoxFuture<'_, Result<Vec<SessionRow>, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            read::sessions(connection, most)
        })
    }

    fn session(
        &self,
        session: GatewaySessionId,
    ) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            read::session(connection, session)
        })
    }

    fn calls(
        &self,
        session: GatewaySessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<(BranchId, CallRecord)>, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            read::calls(connection, session, most)
        })
    }

    fn unplaced(&self, most: usize) -> BoxFuture<'_, Result<Vec<CallRecord>, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            read::unplaced(connection, most)
        })
    }

    fn spend(&self, query: SpendQuery) -> BoxFuture<'_, Result<Vec<SpendRow>, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            spend::rows(connection, query)
        })
    }

    fn latency(
        &self,
        since: Timestamp,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<LatencyRow>, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            spend::latency(connection, since, until)
        })
    }

    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<PurgeCounts, StoreError>> {
        self.blocking(ConnectionUse::Writing, move |connection| {
            write::purge(connection, before)
        })
    }
}

/// Only one process uses the file: all compacted prefixes in it are this process's own, and so are the claims.
impl PrefixStore for SqliteStore {
    fn put(&self, rewrite: Sealed<CompactedPrefix>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.blocking(ConnectionUse::Writing, move |connection| {
            prefix_store::put(connection, &rewrite)
        })
    }

    fn find(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
        least: u32,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>> {
        Box::pin(async move {
            let found = self.blocking(ConnectionUse::Reading, move |connection| {
                prefix_store::find(connection, tenant, &at, least)
            });
            let Some(found) = found.await? else {
                return Ok(None);
            };
            if found.is_stale(Timestamp::now()) {
                let number = found.number;
                let used = self.blocking(ConnectionUse::Writing, move |connection| {
                    prefix_store::used(connection, number)
                });
                if let Err(error) = used.await {
                    tracing::warn!(%error, "the use of a compacted prefix is not recorded");
                }
            }
            Ok(Some(found.rewrite))
        })
    }

    fn discard(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>> {
        self.blocking(ConnectionUse::Writing, move |connection| {
            prefix_store::discard(connection, tenant, at)
        })
    }

    fn index(&self) -> BoxFuture<'_, Result<Option<Vec<PrefixListing>>, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            prefix_store::index(connection).map(Some)
        })
    }

    fn claim(&self, key: u64) -> BoxFuture<'_, Result<Option<Box<dyn Claim>>, StoreError>> {
        Box::pin(std::future::ready(Ok(self.claims.claim(key))))
    }

    fn made(
        &self,
        session: GatewaySessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<PrefixProvenance>, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            prefix_store::made_in(connection, session, most)
        })
    }

    fn made_as(
        &self,
        made: PrefixMakingId,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            prefix_store::made_as(connection, made)
        })
    }
}

impl NotesStore for SqliteStore {
    fn put_notes(&self, record: Sealed<NotesRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.blocking(ConnectionUse::Writing, move |connection| {
            notes::put(connection, &record)
        })
    }

    fn find_notes(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Option<Sealed<NotesRecord>>, StoreError>> {
        self.blocking(ConnectionUse::Reading, move |connection| {
            notes::find(connection, tenant, &at)
        })
    }

    fn discard_notes(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>> {
        self.blocking(ConnectionUse::Writing, move |connection| {
            notes::discard(connection, tenant, at)
        })
    }
}

impl RecallStore for SqliteStore {
    fn put_recall(&self, record: Sealed<RecallRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.blocking(ConnectionUse::Writing, move |connection| {
            recall::put(connection, &record)
        })
    }

    fn find_recall(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Vec<Sealed<RecallRecord>>, StoreError>> {
        Box::pin(async move {
            let (now, at) = (Timestamp::now(), Arc::new(at));
            let asked = Arc::clone(&at);
            let found = self.blocking(ConnectionUse::Reading, move |connection| {
                recall::find(connection, tenant, &asked, now)
            });
            let (found, is_stale) = found.await?;
            if is_stale {
                let used = self.blocking(ConnectionUse::Writing, move |connection| {
                    recall::used(connection, tenant, &at, now)
                });
                if let Err(error) = used.await {
                    tracing::warn!(%error, "the use of a record of recall is not recorded");
                }
            }
            Ok(found)
        })
    }
}

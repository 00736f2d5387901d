//! The books in an SQLite file: write-ahead log, so that reading never waits for writing.

mod notes;
mod read;
mod schema;
mod shelf;
mod write;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use rusqlite::Connection;

use super::claims::Claims;
use super::{
    CallRecord, Claim, Known, Listed, Made, NotesRecord, NotesShelf, Purged, Record, Rewrite,
    SessionRow, Shelf, Store, StoreError,
};
use crate::line::{LineId, SessionId, Tenant};

/// How long to wait for another process's commit.
const PATIENCE: Duration = Duration::from_secs(10);

/// See the module.
#[derive(Debug, Clone)]
pub struct Sqlite {
    writing: Arc<Mutex<Connection>>,
    reading: Arc<Mutex<Connection>>,
    claims: Claims,
}

impl Sqlite {
    /// Opens the file; a missing one is made, private, with the folders above it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |reason: String| StoreError::Open {
            place: path.display().to_string(),
            reason,
        };
        longhaul_store::create_private_file(path).map_err(|error| failed(error.to_string()))?;
        let connect = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(path)?;
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "normal")?;
            Ok(connection)
        };
        let mut writing = connect().map_err(|error| failed(error.to_string()))?;
        let found = schema::migrate(&mut writing).map_err(|error| failed(error.to_string()))?;
        if found > schema::VERSION {
            return Err(StoreError::Newer {
                place: path.display().to_string(),
                found,
                known: schema::VERSION,
            });
        }
        let reading = connect().map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            writing: Arc::new(Mutex::new(writing)),
            reading: Arc::new(Mutex::new(reading)),
            claims: Claims::default(),
        })
    }

    pub(super) fn in_memory() -> Result<Self, StoreError> {
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        schema::migrate(&mut connection).map_err(failed)?;
        let connection = Arc::new(Mutex::new(connection));
        Ok(Self {
            writing: Arc::clone(&connection),
            reading: connection,
            claims: Claims::default(),
        })
    }
}

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Failed(error.to_string())
}

/// What is committed meanwhile is on the disk: the log is synced, which batches of the books are not worth.
fn durably<T>(
    connection: &mut Connection,
    write: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.pragma_update(None, "synchronous", "full")?;
    let written = write(connection);
    connection.pragma_update(None, "synchronous", "normal")?;
    written
}

/// Runs on a thread where waiting for the disk hurts nobody.
fn blocking<T: Send + 'static>(
    connection: &Arc<Mutex<Connection>>,
    run: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
) -> BoxFuture<'static, Result<T, StoreError>> {
    let connection = Arc::clone(connection);
    Box::pin(async move {
        let work = tokio::task::spawn_blocking(move || {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            run(&mut connection).map_err(failed)
        });
        let done = work.await;
        done.map_err(|error| StoreError::Failed(error.to_string()))?
    })
}

impl Store for Sqlite {
    fn append(&self, batch: Vec<Record>) -> BoxFuture<'_, Result<(), StoreError>> {
        blocking(&self.writing, move |connection| {
            write::append(connection, &batch)
        })
    }

    fn known(&self, most: usize) -> BoxFuture<'_, Result<Known, StoreError>> {
        blocking(&self.reading, move |connection| {
            read::known(connection, most)
        })
    }

    fn sessions(&self, most: usize) -> BoxFuture<'_, Result<Vec<SessionRow>, StoreError>> {
        blocking(&self.reading, move |connection| {
            read::sessions(connection, most)
        })
    }

    fn calls(
        &self,
        session: SessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<(LineId, CallRecord)>, StoreError>> {
        blocking(&self.reading, move |connection| {
            read::calls(connection, session, most)
        })
    }

    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<Purged, StoreError>> {
        blocking(&self.writing, move |connection| {
            write::purge(connection, before)
        })
    }
}

/// One process uses the file: what is on the shelf is what this one put there, and claims are its own.
impl Shelf for Sqlite {
    fn put(&self, rewrite: Rewrite) -> BoxFuture<'_, Result<(), StoreError>> {
        blocking(&self.writing, move |connection| {
            shelf::put(connection, &rewrite)
        })
    }

    fn find(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
        least: u32,
    ) -> BoxFuture<'_, Result<Option<Rewrite>, StoreError>> {
        Box::pin(async move {
            let found = blocking(&self.reading, move |connection| {
                shelf::find(connection, tenant, &at, least)
            });
            let Some(found) = found.await? else {
                return Ok(None);
            };
            if found.stale {
                let number = found.number;
                let used = blocking(&self.writing, move |connection| {
                    shelf::used(connection, number)
                });
                if let Err(error) = used.await {
                    tracing::warn!(%error, "the use of a rewrite is not written down");
                }
            }
            Ok(Some(found.rewrite))
        })
    }

    fn index(&self) -> BoxFuture<'_, Result<Option<Vec<Listed>>, StoreError>> {
        blocking(&self.reading, move |connection| {
            shelf::index(connection).map(Some)
        })
    }

    fn claim(&self, key: u64) -> BoxFuture<'_, Result<Option<Box<dyn Claim>>, StoreError>> {
        Box::pin(std::future::ready(Ok(self.claims.claim(key))))
    }

    fn made(
        &self,
        session: SessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<Made>, StoreError>> {
        blocking(&self.reading, move |connection| {
            shelf::made_in(connection, session, most)
        })
    }
}

impl NotesShelf for Sqlite {
    fn put_notes(&self, record: NotesRecord) -> BoxFuture<'_, Result<(), StoreError>> {
        blocking(&self.writing, move |connection| {
            notes::put(connection, &record)
        })
    }

    fn find_notes(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Option<NotesRecord>, StoreError>> {
        blocking(&self.reading, move |connection| {
            notes::find(connection, tenant, &at)
        })
    }
}

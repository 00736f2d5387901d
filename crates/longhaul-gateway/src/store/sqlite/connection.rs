//! Connections to an SQLite file: how they are opened and set up, and how their errors are told.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::super::StoreError;
use super::schema;

/// How long to wait for another process's commit.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The two connections to a file, and how many records of earlier versions were dropped from it.
pub(super) struct OpenedDatabase {
    pub(super) writing: Connection,
    pub(super) reading: Connection,
    pub(super) dropped: u64,
}

impl OpenedDatabase {
    pub(super) fn at(path: &Path) -> Result<Self, StoreError> {
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
        let dropped = schema::drop_unsealed(&writing).map_err(|error| failed(error.to_string()))?;
        let reading = connect().map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            writing,
            reading,
            dropped,
        })
    }
}

pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Failed(error.to_string())
}

/// Runs `write` so that its commits reach the disk: the log is synced, which is not worth the time for batches of the
/// usage log.
pub(super) fn durably<T>(
    connection: &mut Connection,
    write: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.pragma_update(None, "synchronous", "full")?;
    let written = write(connection);
    connection.pragma_update(None, "synchronous", "normal")?;
    written
}

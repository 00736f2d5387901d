//! A usage log that is only looked at: the file is neither created nor changed, whatever its format, and a gateway may be
//! writing to it.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::super::{SpendQuery, SpendRow, StoreError};
use super::connection::{PATIENCE, failed};
use super::{schema, spend};

/// The most problems that a check lists.
const MOST_PROBLEMS: u32 = 20;

/// A usage log in an SQLite file, opened for reading.
#[derive(Debug)]
pub struct ReadOnlyUsageLog {
    path: PathBuf,
    connection: Connection,
    format: i64,
}

impl ReadOnlyUsageLog {
    /// Opens a file that exists.
    ///
    /// # Errors
    /// Fails if it cannot be read, is no database, or was written by a later version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |reason: String| StoreError::Open {
            place: path.display().to_string(),
            reason,
        };
        let open = || -> rusqlite::Result<(Connection, i64)> {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(PATIENCE)?;
            let format = schema::version(&connection)?;
            Ok((connection, format))
        };
        let (connection, format) = open().map_err(|error| failed(error.to_string()))?;
        if format > schema::VERSION {
            return Err(StoreError::Newer {
                place: path.display().to_string(),
                found: format,
                known: schema::VERSION,
            });
        }
        Ok(Self {
            path: path.to_owned(),
            connection,
            format,
        })
    }

    /// What was spent and left out. A file without tables has nothing.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is damaged, or is older than compactions.
    pub fn spend(&self, query: SpendQuery) -> Result<Vec<SpendRow>, StoreError> {
        match self.format {
            0 => Ok(Vec::new()),
            format if format < spend::WITH_COMPACTIONS => Err(StoreError::Open {
                place: self.path.display().to_string(),
                reason: "an earlier version wrote it; `longhaul serve` with this store brings it up to date".to_owned(),
            }),
            format => {
                spend::rows_of_format(&self.connection, query, format).map_err(failed)
            }
        }
    }

    /// What is wrong with the file, in SQLite's words; empty if it is intact.
    ///
    /// # Errors
    /// Fails if the file is damaged so badly that it cannot even be checked.
    pub fn problems(&self) -> Result<Vec<String>, StoreError> {
        let check = format!("PRAGMA quick_check({MOST_PROBLEMS})");
        let found = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare(&check)?;
            let found = statement.query_map([], |row| row.get(0))?;
            found.collect()
        };
        let mut found = found().map_err(failed)?;
        found.retain(|line| line != "ok");
        Ok(found)
    }
}

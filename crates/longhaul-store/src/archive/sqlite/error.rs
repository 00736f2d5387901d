//! What the errors of SQLite and of the disk mean for an archive.

use std::path::Path;

use rusqlite::ErrorCode;

use super::ArchiveError;

impl ArchiveError {
    pub(super) fn from_sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, reason }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            _ => match error {
                // The column holds a type that we never write there.
                rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..) => Self::Damaged { path, reason },
                _ => Self::Unusable { path, reason },
            },
        }
    }

    pub(super) fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::Unusable {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }
}

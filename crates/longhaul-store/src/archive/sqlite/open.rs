//! Opens an archive. A file that is not an intact database is moved aside; it is never deleted and never blocks a
//! session.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{Archive, ArchiveError, schema};
use crate::{FileIdentity, private};

/// How long to wait for another process's commit.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two attempts where SQLite itself does not wait.
const PAUSE: Duration = Duration::from_millis(2);

/// A notice for people about what opening an archive did.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveNotice {
    /// The file was damaged, so a new archive was begun.
    #[error("the archive was damaged and is made again; the damaged file is now {}", to.display())]
    SetAside {
        /// The new path of the damaged file.
        to: PathBuf,
    },
}

impl Archive {
    /// Opens the archive at `path`; a missing one is created, private, with its parent folders.
    ///
    /// # Errors
    /// Fails if a newer version made the database, if another process holds it for too long, and if the file or its
    /// folder cannot be used. A damaged file is no error: it is moved aside.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let _span = tracing::debug_span!("open", path = %path.display()).entered();
        let seen = FileIdentity::of(path);
        match connect(path) {
            // Checked twice: moving an intact database aside while others use it would lose what they put there.
            Err(ArchiveError::Damaged { .. }) => match connect(path) {
                Err(ArchiveError::Damaged { .. }) => {
                    let notice = set_aside(path, seen)?;
                    Ok(Self {
                        notice,
                        ..connect(path)?
                    })
                }
                other => other,
            },
            other => other,
        }
    }

    /// An empty archive that is gone when it is dropped.
    ///
    /// # Errors
    /// Fails if there is no memory for it.
    pub fn in_memory() -> Result<Self, ArchiveError> {
        let path = Path::new(":memory:");
        let failed = |error| ArchiveError::from_sqlite(path, error);
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        schema::migrate(&mut connection).map_err(failed)?;
        Ok(Self {
            identity: None,
            path: path.to_owned(),
            connection,
            notice: None,
        })
    }

    /// Moves a damaged database aside and begins a new one, which [`Archive::index`] then fills.
    ///
    /// # Errors
    /// Fails if the file cannot be moved, or the new one cannot be opened.
    pub fn mend(self) -> Result<Self, ArchiveError> {
        let (path, identity) = (self.path.clone(), self.identity);
        drop(self);
        let notice = set_aside(&path, identity)?;
        Ok(Self {
            notice,
            ..Self::open(&path)?
        })
    }

    /// Whether the path still names the file that is open.
    pub(super) fn still_there(&self) -> Result<(), ArchiveError> {
        // An archive in memory has no file.
        if self.identity.is_none() || FileIdentity::of(&self.path) == self.identity {
            return Ok(());
        }
        Err(ArchiveError::Moved {
            path: self.path.clone(),
        })
    }
}

/// Connects, and tries again while another process is creating the same tables.
fn connect(path: &Path) -> Result<Archive, ArchiveError> {
    let began = Instant::now();
    loop {
        match connect_now(path) {
            // SQLite does not wait by itself when two processes set up the log of a new database.
            Err(ArchiveError::Busy { .. }) if began.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE);
            }
            other => return other,
        }
    }
}

fn connect_now(path: &Path) -> Result<Archive, ArchiveError> {
    let failed = |error| ArchiveError::from_sqlite(path, error);
    private::create_file(path).map_err(|error| ArchiveError::io(path, &error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    let damaged = |reason: String| ArchiveError::Damaged {
        path: path.to_owned(),
        reason,
    };
    // Checked before anything is set: another program's database is not ours to change.
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    // The order matters: another process may be creating the tables, and writes both values at once.
    let has_tables = number("schema_version").map_err(failed)? != 0;
    if has_tables && number("application_id").map_err(failed)? != schema::APPLICATION_ID {
        return Err(damaged("it is another program's database".to_owned()));
    }
    let prepare = |connection: &Connection| {
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "cache_size", -65_536)?;
        connection.pragma_update(None, "temp_store", "memory")
    };
    prepare(&connection).map_err(failed)?;
    let version = schema::migrate(&mut connection).map_err(failed)?;
    if version > schema::VERSION {
        return Err(ArchiveError::Newer {
            path: path.to_owned(),
            version,
        });
    }
    // A database without its tables counts as damaged.
    let probe = "SELECT (SELECT count(*) FROM source), (SELECT max(id) FROM item),
                        (SELECT max(rowid) FROM words WHERE words MATCH '\"x\"')";
    connection
        .query_row(probe, [], |_| Ok(()))
        .map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::Unknown) => damaged(error.to_string()),
            _ => failed(error),
        })?;
    Ok(Archive {
        identity: FileIdentity::of(path),
        path: path.to_owned(),
        connection,
        notice: None,
    })
}

/// Moves a database and its log aside, unless another process has done so already.
fn set_aside(
    path: &Path,
    seen: Option<FileIdentity>,
) -> Result<Option<ArchiveNotice>, ArchiveError> {
    let failed = |error| ArchiveError::io(path, &error);
    if FileIdentity::of(path) != seen {
        return Ok(None);
    }
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let free = (1..1_000)
        .map(|number| format!(".damaged-{number}"))
        .find(|ending| !beside(ending).exists());
    let ending = free.unwrap_or_else(|| ".damaged".to_owned());
    let to = beside(&ending);
    // The log comes first: a log left next to a new database would be taken for its own.
    for log in ["-wal", "-shm"] {
        match fs::rename(beside(log), beside(&format!("{ending}{log}"))) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            _ => {}
        }
    }
    fs::rename(path, &to).map_err(failed)?;
    tracing::warn!(path = %path.display(), to = %to.display(), "damaged archive moved aside");
    Ok(Some(ArchiveNotice::SetAside { to }))
}

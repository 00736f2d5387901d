//! Whether a path still names the file that was opened: a process would keep writing to a deleted or replaced one, and no
//! one would ever read that.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// What tells a file from another that has taken its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity(u64, u64);

impl FileIdentity {
    /// The identity of the file that is at this path now; `None` if there is none.
    pub fn of(path: &Path) -> Option<Self> {
        system::identity(path)
    }
}

/// Whether `path` still names the open `file`, rather than another one or nothing.
pub(crate) fn still_names(path: &Path, file: &File) -> io::Result<bool> {
    match system::names(path, file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        other => other,
    }
}

//! The path of the file, and whether it is still the file that was opened: a process would keep writing to a deleted or
//! replaced file, and no one would ever read that.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Identifies a file.
type InodeIdentity = Option<(u64, u64)>;

/// The path of the file, and the identity of the opened one.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    opened: Mutex<InodeIdentity>,
}

impl DatabaseFile {
    /// The path and identity of a file that was just opened.
    pub(super) fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            opened: Mutex::new(identity(path)),
        }
    }

    /// Opens the file again, if it is not the one that was opened before. Returns whether it did.
    pub(super) fn open_if_gone<E>(
        &self,
        open: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let now = identity(&self.path);
        if now.is_some() && now == *opened {
            return Ok(false);
        }
        // If that fails, the next call tries again.
        *opened = None;
        open(&self.path)?;
        *opened = identity(&self.path);
        Ok(true)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> InodeIdentity {
    use std::os::unix::fs::MetadataExt;
    let file = fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> InodeIdentity {
    // An open file cannot be deleted on this platform.
    fs::metadata(path).ok().map(|_| (0, 0))
}

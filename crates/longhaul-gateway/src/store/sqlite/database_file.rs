//! The path of the file, and whether it is still the file that was opened: a process would keep writing to a deleted or
//! replaced file, and no one would ever read that.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use longhaul_store::FileIdentity;

/// The path of the file, and the identity of the opened one.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    opened: Mutex<Option<FileIdentity>>,
}

impl DatabaseFile {
    /// The path and identity of a file that was just opened.
    pub(super) fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            opened: Mutex::new(FileIdentity::of(path)),
        }
    }

    /// Opens the file again, if it is not the one that was opened before. Returns whether it did.
    pub(super) fn open_if_gone<E>(
        &self,
        open: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let now = FileIdentity::of(&self.path);
        if now.is_some() && now == *opened {
            return Ok(false);
        }
        // If that fails, the next call tries again.
        *opened = None;
        open(&self.path)?;
        *opened = FileIdentity::of(&self.path);
        Ok(true)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

//! Carrying a purge plan out.

use std::fs::{self, File, TryLockError};
use std::io;

use super::{PurgeItem, PurgePlan};

/// What a purge did.
#[derive(Debug, Default)]
pub struct PurgeReport {
    /// The files that are gone.
    pub deleted: Vec<PurgeItem>,
    /// The files that are still there.
    pub kept: Vec<UndeletedFile>,
}

/// A file that was not deleted.
#[derive(Debug)]
pub struct UndeletedFile {
    /// The file.
    pub item: PurgeItem,
    /// Why it is still there.
    pub reason: KeptReason,
}

/// Why a file was not deleted.
#[derive(Debug, thiserror::Error)]
pub enum KeptReason {
    /// A process is appending to it.
    #[error("it is in use")]
    InUse,
    /// It is no longer the file that was listed: used since, replaced, or behind a link now.
    #[error("it changed since the list was made")]
    Changed,
    /// The system refused.
    #[error(transparent)]
    Failed(#[from] io::Error),
}

impl PurgeReport {
    /// The size of what is gone.
    pub fn bytes(&self) -> u64 {
        self.deleted.iter().map(|item| item.bytes).sum()
    }
}

impl PurgePlan {
    /// Deletes the files of the plan, and the folders that this leaves empty. A file that changed since the plan was
    /// made is kept: the user did not agree to lose what is in it now.
    #[tracing::instrument(level = "debug", skip_all, fields(files = self.items.len()))]
    pub fn execute(self) -> PurgeReport {
        let mut report = PurgeReport::default();
        for item in self.items {
            match delete(&item) {
                Ok(()) => report.deleted.push(item),
                Err(reason) => {
                    tracing::debug!(path = %item.path.display(), %reason, "not deleted");
                    report.kept.push(UndeletedFile { item, reason });
                }
            }
        }
        for folder in self.folders {
            // Fails on a folder that holds something, which is then meant to stay.
            let _ = fs::remove_dir(folder);
        }
        tracing::debug!(
            deleted = report.deleted.len(),
            kept = report.kept.len(),
            bytes = report.bytes(),
            "purged"
        );
        report
    }
}

fn delete(item: &PurgeItem) -> Result<(), KeptReason> {
    // Planned paths hold no links. If this one does now, it leads somewhere else.
    let folder = item.path.parent().ok_or(KeptReason::Changed)?;
    if fs::canonicalize(folder)? != folder {
        return Err(KeptReason::Changed);
    }
    // A writer locks the file for each append and then looks whether it still is in its place: with the lock held
    // here, no entry is acknowledged that this deletes.
    let _locked = lock(item)?;
    let metadata = fs::symlink_metadata(&item.path)?;
    if metadata.len() != item.bytes || metadata.modified().ok() != item.modified {
        return Err(KeptReason::Changed);
    }
    Ok(fs::remove_file(&item.path)?)
}

/// Locks a regular file; of anything else, or where it cannot be opened, nothing is appended to.
fn lock(item: &PurgeItem) -> Result<Option<File>, KeptReason> {
    if !fs::symlink_metadata(&item.path)?.is_file() {
        return Ok(None);
    }
    let Ok(file) = File::open(&item.path) else {
        return Ok(None);
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(KeptReason::InUse),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(file)),
    }
}

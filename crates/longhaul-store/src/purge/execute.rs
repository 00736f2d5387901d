//! Carries out a purge plan.

use std::fs::{self, File, TryLockError};
use std::io;
use std::sync::Arc;

use super::{PurgeItem, PurgePlan};
use crate::append_lock::lock_file;

/// The result of a purge.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PurgeReport {
    /// The files that were deleted.
    pub deleted: Vec<PurgeItem>,
    /// The files that are still there.
    pub kept: Vec<UndeletedFile>,
}

/// A file that was not deleted.
#[derive(Debug)]
#[non_exhaustive]
pub struct UndeletedFile {
    /// The file and its details.
    pub item: PurgeItem,
    /// Why the file is still there.
    pub reason: KeptReason,
}

/// Why a file was not deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeptReason {
    /// A process is appending to the file.
    #[error("it is in use")]
    InUse,
    /// The file is no longer the one that was listed: it was used since, replaced, or is now reached through a link.
    #[error("it changed since the list was made")]
    Changed,
    /// The system refused the deletion.
    #[error(transparent)]
    Failed(#[from] io::Error),
}

impl PurgeReport {
    /// The total size of the deleted files.
    pub fn bytes(&self) -> u64 {
        self.deleted.iter().map(|item| item.bytes).sum()
    }
}

impl PurgePlan {
    /// Deletes the files of the plan, and the folders that this leaves empty. A file that changed after the plan was
    /// made is kept, because the user did not agree to lose its new content.
    pub fn execute(self) -> PurgeReport {
        let _span = tracing::debug_span!("execute", files = self.items.len()).entered();
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
            // This fails on a folder that is not empty, which is then meant to stay.
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
    // Planned paths contain no links. If this one does now, it leads somewhere else.
    let folder = item.path.parent().ok_or(KeptReason::Changed)?;
    if crate::real_path(folder)? != folder {
        return Err(KeptReason::Changed);
    }
    // A writer locks the file for each append and then checks that it is still in its place: while the lock is held
    // here, no entry is acknowledged that this deletes.
    let _locked = lock(item)?;
    let metadata = fs::symlink_metadata(&item.path)?;
    if metadata.len() != item.bytes || metadata.modified().ok() != item.modified {
        return Err(KeptReason::Changed);
    }
    Ok(fs::remove_file(&item.path)?)
}

/// Locks a regular file. Nothing appends to anything else, or to a file that cannot be opened.
fn lock(item: &PurgeItem) -> Result<Option<Arc<File>>, KeptReason> {
    if !fs::symlink_metadata(&item.path)?.is_file() {
        return Ok(None);
    }
    let Ok(file) = File::open(&item.path) else {
        return Ok(None);
    };
    let file = lock_file(&Arc::new(file), &item.path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(KeptReason::InUse),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(file)),
    }
}

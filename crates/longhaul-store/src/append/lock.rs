//! The advisory lock on a transcript. It is held for one append, and waiting for it is bounded.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::AppendError;
use crate::append_lock::{lock_file, unlock};

/// The first pause between two attempts, and the longest.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// A locked file; dropping it unlocks the file. The system also unlocks it when the process dies.
#[derive(Debug)]
pub(super) struct TranscriptLock(Arc<File>);

impl TranscriptLock {
    /// Takes the lock, waiting for other holders no longer than `patience`.
    pub(super) fn wait(
        file: &Arc<File>,
        path: &Path,
        patience: Duration,
    ) -> Result<Self, AppendError> {
        let file = lock_file(file, path).map_err(|source| AppendError::NotLocked {
            path: path.to_owned(),
            source,
        })?;
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if began.elapsed() < patience => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(AppendError::Busy {
                        path: path.to_owned(),
                        waited: patience,
                    });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(AppendError::NotLocked {
                        path: path.to_owned(),
                        source,
                    });
                }
            }
        }
    }
}

impl Drop for TranscriptLock {
    fn drop(&mut self) {
        if let Err(error) = unlock(&self.0) {
            tracing::warn!(%error, "unlocking a transcript");
        }
    }
}

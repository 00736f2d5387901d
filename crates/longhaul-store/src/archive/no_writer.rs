//! Stands in for the archive's writer in a build without SQLite: it never starts, and says which feature is missing.
//!
//! A caller that asks for an archive gets an error, rather than a session that finds nothing later. Without an archive,
//! what left the window is in the transcript, which loses nothing.

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;

use super::batch::{ArchiveBatch, NotQueued};
use super::error::ArchiveError;

/// The writer of an archive, which does not exist in this build.
#[derive(Debug)]
pub struct AbsentArchiveWriter {
    never: Infallible,
}

impl AbsentArchiveWriter {
    /// Refuses to start: this build has no archive.
    ///
    /// # Errors
    /// Fails always, with [`io::ErrorKind::Unsupported`] and a message that names the missing feature.
    pub fn start(path: PathBuf, _transcript: PathBuf) -> io::Result<Self> {
        let message = format!(
            "this program was built without SQLite, so it cannot write {}: turn on the feature `sqlite` of the crate \
             `longhaul`, or open the session without an archive (the transcript keeps everything)",
            path.display()
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    /// Hands entries over; no writer exists that this could be called on.
    ///
    /// # Errors
    /// None: it is never called.
    pub fn archive(&self, _: &ArchiveBatch) -> Result<(), NotQueued> {
        match self.never {}
    }

    /// Waits for the disk; no writer exists that this could be called on.
    ///
    /// # Errors
    /// None: it is never called.
    pub fn flush(&self) -> Result<(), ArchiveError> {
        match self.never {}
    }
}

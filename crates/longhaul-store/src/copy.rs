//! A copy of a transcript that appears under its name only when it is finished.
//!
//! To append lines to a copy, make a [`TranscriptCopy`], append to it with a
//! [`TranscriptWriter`](crate::TranscriptWriter) and finish it with its name at the end. Dropping it earlier removes
//! the copy. To continue another program's session under our home, use [`fork`](mod@crate::fork).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::private;

/// How the name of an unfinished copy begins and ends.
const TEMPORARY: (&str, &str) = (".longhaul-", ".tmp");

/// What happens to an existing file of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExistingFilePolicy {
    /// The existing file stays, and the copy is not made.
    Keep,
    /// The copy replaces the existing file.
    Replace,
}

/// A copy was not made. The source is unchanged, and so is any file of that name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// The source cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The path of the source.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// A file of that name already exists.
    #[error("{} exists already", path.display())]
    Exists {
        /// The path of the file.
        path: PathBuf,
    },
    /// What has that name is a folder or a device, and is never replaced.
    #[error("{} is not a regular file, and stays as it is", path.display())]
    NotAFile {
        /// The path of it.
        path: PathBuf,
    },
    /// The copy cannot be written.
    #[error("cannot write {}: {source}; nothing was changed", path.display())]
    NotWritten {
        /// The path of the copy.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

/// A copy that does not have its final name yet.
#[derive(Debug)]
pub struct TranscriptCopy {
    file: tempfile::NamedTempFile,
    target: PathBuf,
    existing: ExistingFilePolicy,
}

impl TranscriptCopy {
    /// Copies a file, byte for byte as it is now, into the folder of `target`. The copy is private to its user.
    ///
    /// # Errors
    /// Fails if the source cannot be read, if the target exists and may not be replaced, and if the copy cannot be
    /// written.
    pub fn of(
        source: &Path,
        target: &Path,
        existing: ExistingFilePolicy,
    ) -> Result<Self, CopyError> {
        let mut copy = Self::begin(target, existing)?;
        copy.fill(source)?;
        Ok(copy)
    }

    /// Begins a copy that holds nothing yet, in the folder of `target`. A program that may be ended from outside learns
    /// here, before much is written, which file it should then delete.
    ///
    /// # Errors
    /// Fails if the target exists and may not be replaced, which holds for everything but files, and if the copy cannot be
    /// created.
    pub fn begin(target: &Path, existing: ExistingFilePolicy) -> Result<Self, CopyError> {
        if existing == ExistingFilePolicy::Keep && fs::symlink_metadata(target).is_ok() {
            return Err(CopyError::Exists {
                path: target.to_owned(),
            });
        }
        // A device would be gone for all programs.
        let is_replaceable = |found: fs::Metadata| found.is_file() || found.is_symlink();
        if fs::symlink_metadata(target).is_ok_and(|found| !is_replaceable(found)) {
            return Err(CopyError::NotAFile {
                path: target.to_owned(),
            });
        }
        let not_written = not_written(target);
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let file = tempfile::Builder::new()
            .prefix(TEMPORARY.0)
            .suffix(TEMPORARY.1)
            .tempfile_in(folder)
            .map_err(&not_written)?;
        Ok(Self {
            file,
            target: target.to_owned(),
            existing,
        })
    }

    /// Copies a file, byte for byte as it is now.
    ///
    /// # Errors
    /// Fails if the source cannot be read, and if the copy cannot be written.
    pub fn fill(&mut self, source: &Path) -> Result<(), CopyError> {
        let mut original = File::open(source).map_err(|error| CopyError::Unreadable {
            path: source.to_owned(),
            source: error,
        })?;
        io::copy(&mut original, self.file.as_file_mut()).map_err(not_written(&self.target))?;
        Ok(())
    }

    /// The temporary path of the copy.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Gives the copy its name, once all of it is on disk.
    ///
    /// # Errors
    /// Fails if the target came into being meanwhile, or if the disk refuses. Nothing is changed then.
    pub fn finish(self) -> Result<(), CopyError> {
        let target = self.target;
        let not_written = not_written(&target);
        self.file.as_file().sync_all().map_err(&not_written)?;
        let named = match self.existing {
            ExistingFilePolicy::Keep => self.file.persist_noclobber(&target),
            ExistingFilePolicy::Replace => self.file.persist(&target),
        };
        named.map_err(|failed| match failed.error.kind() {
            io::ErrorKind::AlreadyExists => CopyError::Exists {
                path: target.clone(),
            },
            _ => not_written(failed.error),
        })?;
        private::sync_folder_of(&target).map_err(&not_written)
    }
}

fn not_written(target: &Path) -> impl Fn(io::Error) -> CopyError + use<> {
    let path = target.to_owned();
    move |source| CopyError::NotWritten {
        path: path.clone(),
        source,
    }
}

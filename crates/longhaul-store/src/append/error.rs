//! Why entries were not appended, and what to do about it.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_core::message::LineDamage;

/// Entries were not appended. **Nothing was acknowledged**, whatever the variant. Nothing was written either, except
/// possibly after [`Self::NotWritten`] and [`Self::NotSynced`].
///
/// `index` is the position of the entry among those given, from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The file could not be opened or created.
    #[error("cannot open {} to append to it: {source}", path.display())]
    Open {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The bytes given are not one intact entry.
    #[error("entry {index} was not appended: {damage}")]
    NotAnEntry {
        /// The entry's index, from 0.
        index: usize,
        /// The problem with it.
        damage: LineDamage,
    },
    /// The bytes given would span more than one line.
    #[error("entry {index} was not appended: it holds a raw line break")]
    LineBreak {
        /// The entry's index, from 0.
        index: usize,
    },
    /// The entry names a parent that the file does not hold (Y8).
    #[error("entry {index} was not appended: its {link} {parent:?} is not in {}; append that entry first", path.display())]
    DanglingParent {
        /// The path of the file.
        path: PathBuf,
        /// The entry's index, from 0.
        index: usize,
        /// The field that names the parent.
        link: ParentLink,
        /// The missing uuid.
        parent: String,
    },
    /// The file already holds an entry with this uuid.
    #[error("entry {index} was not appended: {} already holds an entry with uuid {uuid:?}", path.display())]
    DuplicateUuid {
        /// The path of the file.
        path: PathBuf,
        /// The entry's index, from 0.
        index: usize,
        /// The duplicate uuid.
        uuid: String,
    },
    /// Another process held the lock for the whole waiting time.
    #[error("another process is using {}; gave up after {waited:?}, nothing was written. Try again when it is done", path.display())]
    Busy {
        /// The path of the file.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
    /// The file system cannot lock the file.
    #[error("cannot lock {}: {source}; nothing was written. Keep transcripts on a file system that supports locks", path.display())]
    NotLocked {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The file was deleted, moved or replaced after it was opened.
    #[error("{} was moved, deleted or replaced by another program; nothing was written. Open it again", path.display())]
    Moved {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file could not be read to check the new entries against it.
    #[error("cannot read {} to append to it: {source}; nothing was written", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// Writing failed, perhaps half-way. What was written is taken back where that is possible, or stays alone on its
    /// line.
    #[error("cannot write to {}: {source}; nothing was acknowledged. {} and try again", path.display(), remedy(source))]
    NotWritten {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The disk did not confirm the write. The entries may or may not survive a power cut.
    #[error("{} may not be on disk: {source}; nothing was acknowledged. {} and try again", path.display(), remedy(source))]
    NotSynced {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

/// The fields by which an entry names its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentLink {
    /// `parentUuid`
    Parent,
    /// `logicalParentUuid`
    LogicalParent,
}

impl std::fmt::Display for ParentLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Parent => "parentUuid",
            Self::LogicalParent => "logicalParentUuid",
        })
    }
}

/// What the user can do about a failed write.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull => "The disk is full: free some space",
        ErrorKind::QuotaExceeded => "The disk quota is used up: free some space",
        ErrorKind::FileTooLarge => {
            "The file may not grow further: raise the limit or go on in a fork"
        }
        _ => "Check the disk",
    }
}

impl AppendError {
    pub(super) fn not_opened(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Open {
            path: path.clone(),
            source,
        }
    }

    pub(super) fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Unreadable {
            path: path.clone(),
            source,
        }
    }

    pub(super) fn not_written(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::NotWritten {
            path: path.clone(),
            source,
        }
    }

    pub(super) fn not_synced(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::NotSynced {
            path: path.clone(),
            source,
        }
    }
}

//! Notices for the user about the reading of memory files. None of them is an error: the session begins regardless.

use std::fmt;
use std::path::PathBuf;

use super::MOST_DEEP;

/// A fact about a memory file that its owner may not expect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryFileNotice {
    /// A memory file imports a file that does not exist.
    Missing {
        /// The file.
        path: PathBuf,
        /// The file that imports it.
        imported_by: PathBuf,
    },
    /// A file exists but cannot be used.
    Unusable {
        /// The file.
        path: PathBuf,
        /// The file that imports it, if one does.
        imported_by: Option<PathBuf>,
        /// Why the file cannot be used.
        reason: String,
    },
    /// A file's text is not UTF-8; invalid characters were replaced.
    Repaired {
        /// The file.
        path: PathBuf,
    },
    /// A file is too large, so only its beginning was read.
    ReadInPart {
        /// The file.
        path: PathBuf,
        /// The number of bytes that were not read.
        unread_bytes: u64,
    },
    /// A file from an unexpected place is sent: one outside of the project and the user's home, or one in the user's
    /// home because of a project's file. It is imported, or a link to it takes the place of a memory file.
    Outside {
        /// The file.
        path: PathBuf,
        /// The real path of the file.
        real: PathBuf,
        /// The file that imports it, if one does.
        imported_by: Option<PathBuf>,
    },
    /// A file of the project imports or links to a file outside of the project, and the user has not agreed to that.
    /// The file outside was not read.
    NotAgreed {
        /// The file.
        path: PathBuf,
        /// The real path of the file.
        real: PathBuf,
        /// The file that imports it; `None` if it is a link in the place of a memory file.
        imported_by: Option<PathBuf>,
    },
    /// A file was not read, because a rule forbids reading it.
    Denied {
        /// The file.
        path: PathBuf,
        /// The file that imports it, if one does.
        imported_by: Option<PathBuf>,
    },
    /// A file has the same text as another one and is not sent again.
    SameText {
        /// The file.
        path: PathBuf,
        /// The other file, which is sent.
        sent: PathBuf,
    },
    /// An import was not followed because the chain of imports that leads to it is too long.
    TooDeep {
        /// The file.
        path: PathBuf,
        /// The file that imports it.
        imported_by: PathBuf,
    },
    /// Imports were not followed because there are too many.
    TooMany {
        /// The maximum number of imports that are followed.
        most: usize,
        /// The file with the first import that was not followed.
        imported_by: PathBuf,
    },
    /// The host did not supply the content of a file that was needed, so the file is not sent.
    NotSupplied {
        /// The file.
        path: PathBuf,
    },
}

impl fmt::Display for MemoryFileNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { path, imported_by } => write!(
                f,
                "{} imports {}, which does not exist: correct the path, or put it in backquotes if it is not an import",
                imported_by.display(),
                path.display()
            ),
            Self::Unusable {
                path,
                imported_by: Some(by),
                reason,
            } => write!(
                f,
                "{}, imported by {}, was left out: {reason}",
                path.display(),
                by.display()
            ),
            Self::Unusable { path, reason, .. } => {
                write!(f, "{} was left out: {reason}", path.display())
            }
            Self::Repaired { path } => write!(
                f,
                "{} is not UTF-8: characters that could not be read were replaced; save it as UTF-8",
                path.display()
            ),
            Self::ReadInPart { path, unread_bytes } => write!(
                f,
                "{} is too large for a memory file: its last {unread_bytes} bytes were not read; shorten it",
                path.display()
            ),
            Self::Outside {
                path,
                real,
                imported_by: Some(by),
            } => write!(
                f,
                "{} imports {} ({}) from outside: remove the import if the model should not see it",
                by.display(),
                path.display(),
                real.display()
            ),
            Self::Outside { path, real, .. } => write!(
                f,
                "{} is a link to {}, which is outside: remove it if the model should not see that",
                path.display(),
                real.display()
            ),
            Self::NotAgreed {
                path,
                real,
                imported_by: Some(by),
            } => write!(
                f,
                "{} imports {} ({}), which is outside of the project: it was not read, because nobody has agreed to it",
                by.display(),
                path.display(),
                real.display()
            ),
            Self::NotAgreed { path, real, .. } => write!(
                f,
                "{} is a link to {}, which is outside of the project: it was not read, because nobody has agreed to it",
                path.display(),
                real.display()
            ),
            Self::Denied {
                path,
                imported_by: Some(by),
            } => write!(
                f,
                "{}, imported by {}, was not read: a rule forbids reading it",
                path.display(),
                by.display()
            ),
            Self::Denied { path, .. } => {
                write!(
                    f,
                    "{} was not read: a rule forbids reading it",
                    path.display()
                )
            }
            Self::SameText { path, sent } => write!(
                f,
                "{} says the same as {} and was not sent again",
                path.display(),
                sent.display()
            ),
            Self::TooDeep { path, imported_by } => write!(
                f,
                "{}, imported by {}, was left out: imports are followed {} files deep; import it from a file further up",
                path.display(),
                imported_by.display(),
                MOST_DEEP
            ),
            Self::TooMany { most, imported_by } => write!(
                f,
                "only the first {most} imports of memory files were followed; those left begin in {}",
                imported_by.display()
            ),
            Self::NotSupplied { path } => write!(f, "{} was not read", path.display()),
        }
    }
}

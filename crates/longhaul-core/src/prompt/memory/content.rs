//! What the host reports about a file that it was asked for: its content, or why there is none.

use std::path::PathBuf;

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFileContent {
    /// The text of the file, from its beginning.
    pub text: String,
    /// Whether the text is exactly the file's content.
    pub encoding: TextEncoding,
    /// The number of bytes after the text that were not read.
    pub unread_bytes: u64,
    /// The path of the file with all links resolved. Two paths to the same file count as one file.
    pub real: PathBuf,
    /// The location of the real path.
    pub reach: FileReach,
}

/// Whether a text is exactly its file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextEncoding {
    /// The text is exact.
    Exact,
    /// The file was not UTF-8, and some characters were replaced.
    Repaired,
}

/// The location of a file's real path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileReach {
    /// The file is in the project.
    Project,
    /// The file is not in the project, but in the user's home or one of the programs' own folders.
    Home,
    /// The file is anywhere else.
    Elsewhere,
}

/// Why there is no content.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentUnavailable {
    /// The file does not exist.
    Missing,
    /// The file exists but cannot be used, for this reason.
    Unusable(String),
    /// The file lies outside of the project, only the project asks for it, and the user has not agreed to that.
    NotAgreed {
        /// The path of the file with all links resolved.
        real: PathBuf,
    },
    /// A rule of the user or of the project forbids reading the file.
    Denied,
}

/// A file that was read, and the paths that it imports.
#[derive(Debug, Clone)]
pub(super) struct LoadedMemoryFile {
    pub(super) content: MemoryFileContent,
    pub(super) imports: Vec<PathBuf>,
}

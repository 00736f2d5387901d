//! Memory files: instructions that users and projects keep on disk, and the files that these import.
//!
//! This module decides which files are searched for and which parts of them are sent; the host reads them.
//! [`MemoryFileSearch`] asks for paths and is given contents.

mod content;
mod markdown;
mod notice;
mod places;
mod search;
mod walk;
mod wanted;

use std::path::{Path, PathBuf};

pub use content::{ContentUnavailable, FileReach, MemoryFileContent, TextEncoding};
pub use markdown::{compact_instructions, without_front_matter};
pub use notice::MemoryFileNotice;
pub use places::SessionFolders;
pub use search::MemoryFileSearch;
pub use walk::FoundMemoryFiles;
pub use wanted::{ReadAuthority, WantedFile};

/// The names of memory files, in the order in which they are searched for in a folder.
const SHARED_NAMES: [&str; 3] = ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"];
const LOCAL_NAME: &str = "CLAUDE.local.md";

/// The maximum length of a chain of imports that is followed.
const MOST_DEEP: usize = 5;

/// A memory file that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Whose instructions the file holds.
    pub kind: MemoryFileKind,
    /// The file that imports this one, if that is why it is sent.
    pub imported_by: Option<PathBuf>,
    /// The text of the file, without front matter.
    pub text: String,
    /// The number of bytes that were not read because they exceed any budget.
    pub unread_bytes: u64,
}

/// Whose instructions a memory file holds. An imported file has the kind of the file that imports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryFileKind {
    /// The user's instructions for all projects.
    User,
    /// The project's instructions for everybody who works on it.
    Project,
    /// The user's instructions for this project.
    Local,
}

impl MemoryFile {
    /// Returns the description of the kind, for the file's title.
    pub(super) fn described(&self) -> String {
        let kind = match self.kind {
            MemoryFileKind::User => "the user's own instructions for all projects",
            MemoryFileKind::Project => "instructions of the project",
            MemoryFileKind::Local => "the user's own instructions for this project",
        };
        match &self.imported_by {
            Some(by) => format!("{kind}, imported by {}", by.display()),
            None => kind.to_owned(),
        }
    }
}

/// Whether a path is that of a memory file, judging by its name. Such files are sent as memory and need not be restored
/// (R1).
pub fn is_memory_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name == LOCAL_NAME || SHARED_NAMES.contains(&name))
}

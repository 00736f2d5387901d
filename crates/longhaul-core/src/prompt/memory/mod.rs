//! Memory files: instructions that users and projects keep on disk, and the files that those import.
//!
//! This decides which files are looked for and what of them is sent; reading them is for the host. [`Search`] asks for
//! paths and is fed contents.

mod markdown;
mod notice;
mod places;
mod search;
mod walk;

use std::path::{Path, PathBuf};

pub use markdown::{compact_instructions, without_front_matter};
pub use notice::MemoryFileNotice;
pub use places::SessionFolders;
pub use search::{
    ContentUnavailable, FileReach, FoundMemoryFiles, MemoryFileContent, MemoryFileSearch,
    ReadAuthority, TextEncoding, WantedFile,
};

/// Names of memory files, in the order in which they are looked for in a folder.
const SHARED_NAMES: [&str; 3] = ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"];
const LOCAL_NAME: &str = "CLAUDE.local.md";

/// A memory file that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// Where it is.
    pub path: PathBuf,
    /// Whose instructions it holds.
    pub kind: MemoryFileKind,
    /// The file that imports it, if that is why it is here.
    pub imported_by: Option<PathBuf>,
    /// Its text, without front matter.
    pub text: String,
    /// How many bytes of it were not read, being beyond any budget.
    pub unread_bytes: u64,
}

/// Whose instructions a memory file holds. An imported one is of the kind of the file that imports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryFileKind {
    /// The user's, for all projects.
    User,
    /// The project's, for everybody who works on it.
    Project,
    /// The user's, for this project.
    Local,
}

impl MemoryFile {
    /// What it is, for its title.
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

/// Whether a path is that of a memory file, by its name. Such files are sent as memory and need not be restored (R1).
pub fn is_memory_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name == LOCAL_NAME || SHARED_NAMES.contains(&name))
}

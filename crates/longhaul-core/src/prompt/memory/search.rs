//! Finds memory files without accessing a disk: it asks for paths, is given contents, and follows imports.
//!
//! A [`MemoryFileWalk`] over the known files tells which of them are sent and which are wanted next.

use std::path::{Path, PathBuf};

use super::markdown::{imports, without_front_matter};
use super::walk::MemoryFileWalk;
use super::{MemoryFile, MemoryFileKind, MemoryFileNotice, SessionFolders};
use crate::hash::Map;

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

/// Who asks for a file to be read. A project's files may come from anybody, so reading files outside of the project for
/// them needs the user's consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReadAuthority {
    /// The file is one of the user's own files for all projects, or one of these imports it.
    User,
    /// The file is a file of the project, or one of these imports it. `CLAUDE.local.md` counts as one, since it can be
    /// committed too.
    Project,
}

/// A file that a search needs to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WantedFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Who asks for the file.
    pub authority: ReadAuthority,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundMemoryFiles {
    /// The files to send, in order: an imported file comes after the one that imports it.
    pub files: Vec<MemoryFile>,
    /// The notices for the user.
    pub notices: Vec<MemoryFileNotice>,
}

/// A search for memory files.
#[derive(Debug, Clone)]
pub struct MemoryFileSearch {
    pub(super) candidates: Vec<(PathBuf, MemoryFileKind)>,
    user_home: Option<PathBuf>,
    pub(super) supplied: Map<WantedFile, Result<LoadedMemoryFile, ContentUnavailable>>,
}

/// A file that was read, and the paths that it imports.
#[derive(Debug, Clone)]
pub(super) struct LoadedMemoryFile {
    pub(super) content: MemoryFileContent,
    pub(super) imports: Vec<PathBuf>,
}

impl MemoryFileSearch {
    /// Creates a new search.
    pub fn new(places: &SessionFolders) -> Self {
        Self {
            candidates: places.candidates(),
            user_home: places.user_home.clone(),
            supplied: Map::default(),
        }
    }

    /// Creates a search for the memory files of the folders that lead to a file, without those of every session.
    pub fn nested(places: &SessionFolders, file: &Path) -> Self {
        Self {
            candidates: places.candidates_for(file),
            user_home: places.user_home.clone(),
            supplied: Map::default(),
        }
    }

    /// Returns the files to read next. Each must be supplied, in any order. The list is empty when the search is done.
    pub fn wanted(&self) -> Vec<WantedFile> {
        MemoryFileWalk::of(self).wanted
    }

    /// Supplies the content of a file, or why there is none.
    pub fn supply(
        &mut self,
        wanted: &WantedFile,
        content: Result<MemoryFileContent, ContentUnavailable>,
    ) {
        let read = content.map(|content| {
            let folder = wanted.path.parent().unwrap_or(&wanted.path);
            let text = without_front_matter(&content.text);
            let imports = imports(text).into_iter();
            LoadedMemoryFile {
                imports: imports
                    .filter_map(|import| self.resolve(folder, &import))
                    .collect(),
                content,
            }
        });
        self.supplied.insert(wanted.clone(), read);
    }

    /// Returns the result. A file that was wanted but not supplied becomes a notice.
    pub fn finish(self) -> FoundMemoryFiles {
        let walk = MemoryFileWalk::of(&self);
        let mut found = walk.found;
        let not_supplied = walk.wanted.into_iter();
        (found.notices)
            .extend(not_supplied.map(|wanted| MemoryFileNotice::NotSupplied { path: wanted.path }));
        found
    }

    fn resolve(&self, folder: &Path, import: &str) -> Option<PathBuf> {
        let path = match import.strip_prefix("~/") {
            Some(below) => self.user_home.as_ref()?.join(below),
            None => folder.join(import),
        };
        // This removes `./`. The meaning of `..` depends on links.
        Some(path.components().collect())
    }
}

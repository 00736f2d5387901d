//! Finds memory files without touching a disk: asks for paths, is fed contents, follows imports.
//!
//! Which of the known files are sent, and what is wanted next, a [`Walk`] over them tells.

use std::path::{Path, PathBuf};

use super::markdown::{imports, without_front_matter};
use super::walk::MemoryFileWalk;
use super::{MemoryFile, MemoryFileKind, MemoryFileNotice, SessionFolders};
use crate::hash::Map;

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFileContent {
    /// Its text, from its beginning.
    pub text: String,
    /// Whether the text is what the file holds.
    pub encoding: TextEncoding,
    /// How many bytes behind the text were not read.
    pub unread_bytes: u64,
    /// The path of the file with all links resolved. Two paths to one file are one file.
    pub real: PathBuf,
    /// Where that is.
    pub reach: FileReach,
}

/// Whether a text is what its file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEncoding {
    /// It is.
    Exact,
    /// The file was not UTF-8, and some characters were replaced.
    Repaired,
}

/// Where a file really is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileReach {
    /// In the project.
    Project,
    /// Not in the project, and in the user's home or one of the programs' own folders.
    Home,
    /// Anywhere else.
    Elsewhere,
}

/// Why there is no content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentUnavailable {
    /// There is no such file.
    Missing,
    /// There is something, and it cannot be used; the reason in words.
    Unusable(String),
    /// It lies outside of the project, only the project asks for it, and the user has not agreed to that.
    NotAgreed {
        /// The path of the file with all links resolved.
        real: PathBuf,
    },
    /// A rule of the user or of the project forbids reading it.
    Denied,
}

/// On whose word a file is read. A project's files may come from anybody, so what they ask for outside of the project
/// needs the user's consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReadAuthority {
    /// One of the user's own files for all projects is the file, or imports it.
    User,
    /// A file of the project is the file, or imports it. `CLAUDE.local.md` counts as one, since it can be committed too.
    Project,
}

/// A file that a search wants to be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WantedFile {
    /// Where it is.
    pub path: PathBuf,
    /// On whose word it is read.
    pub authority: ReadAuthority,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundMemoryFiles {
    /// The files to be sent, in their order: an imported file stands behind the one that imports it.
    pub files: Vec<MemoryFile>,
    /// What the user should know.
    pub notices: Vec<MemoryFileNotice>,
}

/// A search for memory files.
#[derive(Debug, Clone)]
pub struct MemoryFileSearch {
    pub(super) candidates: Vec<(PathBuf, MemoryFileKind)>,
    user_home: Option<PathBuf>,
    pub(super) supplied: Map<WantedFile, Result<LoadedMemoryFile, ContentUnavailable>>,
}

/// A file that was read, and the paths of those it imports.
#[derive(Debug, Clone)]
pub(super) struct LoadedMemoryFile {
    pub(super) content: MemoryFileContent,
    pub(super) imports: Vec<PathBuf>,
}

impl MemoryFileSearch {
    /// A search that has not seen anything yet.
    pub fn new(places: &SessionFolders) -> Self {
        Self {
            candidates: places.candidates(),
            user_home: places.user_home.clone(),
            supplied: Map::default(),
        }
    }

    /// A search for the memory files of the folders that lead to a file, without those of every session.
    pub fn nested(places: &SessionFolders, file: &Path) -> Self {
        Self {
            candidates: places.candidates_for(file),
            user_home: places.user_home.clone(),
            supplied: Map::default(),
        }
    }

    /// The files to be read next, each to be supplied, in any order. None when the search is done.
    pub fn wanted(&self) -> Vec<WantedFile> {
        MemoryFileWalk::of(self).wanted
    }

    /// Takes the content of a file, or why there is none.
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

    /// What was found. What was wanted and not supplied is a notice.
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
        // Takes `./` out. What `..` means, links decide.
        Some(path.components().collect())
    }
}

//! Finds memory files without accessing a disk: it asks for paths, is given contents, and follows imports.
//!
//! A [`MemoryFileWalk`] over the known files tells which of them are sent and which are wanted next.

use std::path::{Path, PathBuf};

use super::content::{ContentUnavailable, LoadedMemoryFile, MemoryFileContent};
use super::markdown::{imports, without_front_matter};
use super::walk::{FoundMemoryFiles, MemoryFileWalk};
use super::wanted::{SuppliedFiles, WantedFile};
use super::{MemoryFileKind, MemoryFileNotice, SessionFolders};
use crate::hash::Map;

/// A search for memory files.
#[derive(Debug, Clone)]
pub struct MemoryFileSearch {
    candidates: Vec<(PathBuf, MemoryFileKind)>,
    user_home: Option<PathBuf>,
    supplied: SuppliedFiles,
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
        MemoryFileWalk::of(&self.candidates, &self.supplied).wanted
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
        let walk = MemoryFileWalk::of(&self.candidates, &self.supplied);
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

//! One pass over all known memory files, in the order in which they are sent.
//!
//! The pass is repeated from the first file for every question. So the order in which contents arrive does not matter,
//! and the first mention of a file in the order of sending counts.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use super::content::{
    ContentUnavailable, FileReach, LoadedMemoryFile, MemoryFileContent, TextEncoding,
};
use super::markdown::without_front_matter;
use super::wanted::{ReadAuthority, SuppliedFiles, WantedFile};
use super::{MOST_DEEP, MemoryFile, MemoryFileKind, MemoryFileNotice};
use crate::hash::{Map, Set};

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundMemoryFiles {
    /// The files to send, in order: an imported file comes after the one that imports it.
    pub files: Vec<MemoryFile>,
    /// The notices for the user.
    pub notices: Vec<MemoryFileNotice>,
}

/// The maximum number of imports that are followed in total.
const MOST_IMPORTS: usize = 100;

/// How the walk reached a file.
#[derive(Clone, Copy)]
struct WalkStep<'s> {
    kind: MemoryFileKind,
    authority: ReadAuthority,
    /// The file that imports this one, if there is one.
    by: Option<&'s Path>,
    depth: usize,
}

/// One pass over all known files.
pub(super) struct MemoryFileWalk<'s> {
    candidates: &'s [(PathBuf, MemoryFileKind)],
    supplied: &'s SuppliedFiles,
    pub(super) found: FoundMemoryFiles,
    pub(super) wanted: Vec<WantedFile>,
    seen_paths: Set<&'s Path>,
    seen_files: Set<&'s Path>,
    seen_texts: Map<&'s str, &'s Path>,
    imports: usize,
}

impl<'s> MemoryFileWalk<'s> {
    pub(super) fn of(
        candidates: &'s [(PathBuf, MemoryFileKind)],
        supplied: &'s SuppliedFiles,
    ) -> Self {
        let mut walk = Self {
            candidates,
            supplied,
            found: FoundMemoryFiles::default(),
            wanted: Vec::new(),
            seen_paths: Set::default(),
            seen_files: Set::default(),
            seen_texts: Map::default(),
            imports: 0,
        };
        for (path, kind) in candidates {
            let authority = match kind {
                MemoryFileKind::User => ReadAuthority::User,
                MemoryFileKind::Project | MemoryFileKind::Local => ReadAuthority::Project,
            };
            let step = WalkStep {
                kind: *kind,
                authority,
                by: None,
                depth: 0,
            };
            walk.visit(path, step);
        }
        walk
    }

    fn visit(&mut self, path: &'s Path, step: WalkStep<'s>) {
        if !self.seen_paths.insert(path) {
            return;
        }
        let wanted = WantedFile {
            path: path.to_owned(),
            authority: step.authority,
        };
        match self.supplied.get(&wanted) {
            None => self.wanted.push(wanted),
            Some(Err(unavailable)) => self.unavailable(path, step.by, unavailable),
            Some(Ok(read)) => self.read(path, step, read),
        }
    }

    fn unavailable(&mut self, path: &Path, by: Option<&Path>, unavailable: &ContentUnavailable) {
        let path = path.to_owned();
        let notice = match (unavailable, by) {
            (ContentUnavailable::Unusable(reason), by) => MemoryFileNotice::Unusable {
                path,
                imported_by: by.map(Path::to_owned),
                reason: reason.clone(),
            },
            // A bare word after an at sign is more often somebody's name than a file.
            (ContentUnavailable::Missing, Some(by)) if path.extension().is_some() => {
                MemoryFileNotice::Missing {
                    path,
                    imported_by: by.to_owned(),
                }
            }
            (ContentUnavailable::Missing, _) => return,
            (ContentUnavailable::NotAgreed { real }, by) => MemoryFileNotice::NotAgreed {
                path,
                real: real.clone(),
                imported_by: by.map(Path::to_owned),
            },
            (ContentUnavailable::Denied, by) => MemoryFileNotice::Denied {
                path,
                imported_by: by.map(Path::to_owned),
            },
        };
        self.found.notices.push(notice);
    }

    fn read(&mut self, path: &'s Path, step: WalkStep<'s>, read: &'s LoadedMemoryFile) {
        let WalkStep {
            kind,
            authority,
            by,
            depth,
        } = step;
        let content = &read.content;
        if !self.seen_files.insert(&content.real) {
            return;
        }
        let text = without_front_matter(&content.text);
        if !text.trim().is_empty() && !self.names_another(path, text) {
            self.tell(path, kind, by, content);
            match self.seen_texts.get(text.trim()) {
                Some(sent) => self.found.notices.push(MemoryFileNotice::SameText {
                    path: path.to_owned(),
                    sent: (*sent).to_owned(),
                }),
                None => {
                    self.seen_texts.insert(text.trim(), path);
                    self.found.files.push(MemoryFile {
                        path: path.to_owned(),
                        kind,
                        imported_by: by.map(Path::to_owned),
                        text: text.to_owned(),
                        unread_bytes: content.unread_bytes,
                    });
                }
            }
        }
        // A file of the project speaks for the project, even if the user's own file imports it.
        let authority = match (by, content.reach) {
            (Some(_), FileReach::Project) => ReadAuthority::Project,
            _ => authority,
        };
        for import in &read.imports {
            let step = WalkStep {
                kind,
                authority,
                by: Some(path),
                depth: depth + 1,
            };
            self.follow(import, path, step);
        }
    }

    fn follow(&mut self, path: &'s Path, by: &'s Path, step: WalkStep<'s>) {
        if self.seen_paths.contains(path) {
            return;
        }
        let imported_by = by.to_owned();
        let depth = step.depth;
        if depth > MOST_DEEP {
            let path = path.to_owned();
            self.found
                .notices
                .push(MemoryFileNotice::TooDeep { path, imported_by });
            return;
        }
        self.imports += 1;
        match self.imports.cmp(&(MOST_IMPORTS + 1)) {
            Ordering::Less => self.visit(path, step),
            Ordering::Equal => self.found.notices.push(MemoryFileNotice::TooMany {
                most: MOST_IMPORTS,
                imported_by,
            }),
            Ordering::Greater => {}
        }
    }

    /// Whether a file holds only the name of another memory file: a link, on systems where links cannot be checked out.
    fn names_another(&self, path: &Path, text: &str) -> bool {
        let named = path.parent().unwrap_or(path).join(text.trim());
        let mut others = self.candidates.iter();
        others.any(|(other, _)| *other == named && other != path)
    }

    fn tell(
        &mut self,
        path: &Path,
        kind: MemoryFileKind,
        by: Option<&Path>,
        content: &MemoryFileContent,
    ) {
        let notices = &mut self.found.notices;
        let path = path.to_owned();
        // A project's file may come from anybody, so the user should also know what it takes from the user's home.
        let expected = match (kind, content.reach) {
            (_, FileReach::Project) => true,
            (MemoryFileKind::User | MemoryFileKind::Local, FileReach::Home) => true,
            (MemoryFileKind::Project, FileReach::Home) | (_, FileReach::Elsewhere) => false,
        };
        if !expected {
            notices.push(MemoryFileNotice::Outside {
                path: path.clone(),
                real: content.real.clone(),
                imported_by: by.map(Path::to_owned),
            });
        }
        if content.encoding == TextEncoding::Repaired {
            notices.push(MemoryFileNotice::Repaired { path: path.clone() });
        }
        if content.unread_bytes > 0 {
            let unread_bytes = content.unread_bytes;
            notices.push(MemoryFileNotice::ReadInPart { path, unread_bytes });
        }
    }
}

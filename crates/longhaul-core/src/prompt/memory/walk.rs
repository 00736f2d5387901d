//! One look through all memory files that are known, in the order in which they are sent.
//!
//! It is taken anew whenever something is asked, from the first file on. So the order in which contents arrive does not
//! matter, and the first mention of a file in the order of sending is the one that counts.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use super::markdown::without_front_matter;
use super::search::{Content, Encoding, Found, Reach, Read, Search, Unavailable};
use super::{Kind, MemoryFile, Notice};
use crate::hash::{Map, Set};

/// How many imports in a row are followed.
pub(super) const MOST_DEEP: usize = 5;

/// How many imports are followed in all.
const MOST_IMPORTS: usize = 100;

/// One look through all that is known.
pub(super) struct Walk<'s> {
    search: &'s Search,
    pub(super) found: Found,
    pub(super) wanted: Vec<PathBuf>,
    seen_paths: Set<&'s Path>,
    seen_files: Set<&'s Path>,
    seen_texts: Map<&'s str, &'s Path>,
    imports: usize,
}

impl<'s> Walk<'s> {
    pub(super) fn of(search: &'s Search) -> Self {
        let mut walk = Self {
            search,
            found: Found::default(),
            wanted: Vec::new(),
            seen_paths: Set::default(),
            seen_files: Set::default(),
            seen_texts: Map::default(),
            imports: 0,
        };
        for (path, kind) in &search.candidates {
            walk.visit(path, *kind, None, 0);
        }
        walk
    }

    fn visit(&mut self, path: &'s Path, kind: Kind, by: Option<&'s Path>, depth: usize) {
        if !self.seen_paths.insert(path) {
            return;
        }
        let search = self.search;
        match search.supplied.get(path) {
            None => self.wanted.push(path.to_owned()),
            Some(Err(unavailable)) => self.unavailable(path, by, unavailable),
            Some(Ok(read)) => self.read(path, kind, by, depth, read),
        }
    }

    fn unavailable(&mut self, path: &Path, by: Option<&Path>, unavailable: &Unavailable) {
        let path = path.to_owned();
        let notice = match (unavailable, by) {
            (Unavailable::Unusable(reason), by) => Notice::Unusable {
                path,
                imported_by: by.map(Path::to_owned),
                reason: reason.clone(),
            },
            // A bare word behind an at sign is more often somebody's name than a file.
            (Unavailable::Missing, Some(by)) if path.extension().is_some() => Notice::Missing {
                path,
                imported_by: by.to_owned(),
            },
            (Unavailable::Missing, _) => return,
        };
        self.found.notices.push(notice);
    }

    fn read(
        &mut self,
        path: &'s Path,
        kind: Kind,
        by: Option<&'s Path>,
        depth: usize,
        read: &'s Read,
    ) {
        let content = &read.content;
        if !self.seen_files.insert(&content.real) {
            return;
        }
        let text = without_front_matter(&content.text);
        if !text.trim().is_empty() && !self.names_another(path, text) {
            self.tell(path, kind, by, content);
            match self.seen_texts.get(text.trim()) {
                Some(sent) => self.found.notices.push(Notice::SameText {
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
        for import in &read.imports {
            self.follow(import, kind, path, depth + 1);
        }
    }

    fn follow(&mut self, path: &'s Path, kind: Kind, by: &'s Path, depth: usize) {
        if self.seen_paths.contains(path) {
            return;
        }
        let imported_by = by.to_owned();
        if depth > MOST_DEEP {
            let path = path.to_owned();
            self.found
                .notices
                .push(Notice::TooDeep { path, imported_by });
            return;
        }
        self.imports += 1;
        match self.imports.cmp(&(MOST_IMPORTS + 1)) {
            Ordering::Less => self.visit(path, kind, Some(by), depth),
            Ordering::Equal => self.found.notices.push(Notice::TooMany {
                most: MOST_IMPORTS,
                imported_by,
            }),
            Ordering::Greater => {}
        }
    }

    /// A file that holds nothing but the name of another memory file: a link, where links cannot be checked out.
    fn names_another(&self, path: &Path, text: &str) -> bool {
        let named = path.parent().unwrap_or(path).join(text.trim());
        let mut others = self.search.candidates.iter();
        others.any(|(other, _)| *other == named && other != path)
    }

    fn tell(&mut self, path: &Path, kind: Kind, by: Option<&Path>, content: &Content) {
        let notices = &mut self.found.notices;
        let path = path.to_owned();
        // A project's file may come from anybody: what it takes from the user's home is worth telling too.
        let expected = match (kind, content.reach) {
            (_, Reach::Project) => true,
            (Kind::User | Kind::Local, Reach::Home) => true,
            (Kind::Project, Reach::Home) | (_, Reach::Elsewhere) => false,
        };
        if !expected {
            notices.push(Notice::Outside {
                path: path.clone(),
                real: content.real.clone(),
                imported_by: by.map(Path::to_owned),
            });
        }
        if content.encoding == Encoding::Repaired {
            notices.push(Notice::Repaired { path: path.clone() });
        }
        if content.unread_bytes > 0 {
            let unread_bytes = content.unread_bytes;
            notices.push(Notice::ReadInPart { path, unread_bytes });
        }
    }
}

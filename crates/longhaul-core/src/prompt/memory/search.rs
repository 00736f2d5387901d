//! Finds memory files without touching a disk: asks for paths, is fed contents, follows imports.
//!
//! What it knows is looked through anew each time, from the first file on. So the order in which contents arrive does
//! not matter, and the first mention of a file in the order of sending is the one that counts.

use std::path::{Path, PathBuf};

use super::markdown::{imports, without_front_matter};
use super::{Kind, MemoryFile, Notice, Places};
use crate::hash::{Map, Set};

/// How many imports in a row are followed.
pub(super) const MOST_DEEP: usize = 5;

/// How many imports are followed in all.
const MOST_IMPORTS: usize = 100;

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Its text, from its beginning.
    pub text: String,
    /// Whether the text is what the file holds.
    pub encoding: Encoding,
    /// How many bytes behind the text were not read.
    pub unread_bytes: u64,
    /// The path of the file with all links resolved. Two paths to one file are one file.
    pub real: PathBuf,
    /// Where that is.
    pub reach: Reach,
}

/// Whether a text is what its file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// It is.
    Exact,
    /// The file was not UTF-8, and some characters were replaced.
    Repaired,
}

/// Where a file really is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// In the project.
    Project,
    /// Not in the project, and in the user's home or one of the programs' own folders.
    Home,
    /// Anywhere else.
    Elsewhere,
}

/// Why there is no content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unavailable {
    /// There is no such file.
    Missing,
    /// There is something, and it cannot be used; the reason in words.
    Unusable(String),
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The files to be sent, in their order: an imported file stands behind the one that imports it.
    pub files: Vec<MemoryFile>,
    /// What the user should know.
    pub notices: Vec<Notice>,
}

/// A search for memory files.
#[derive(Debug, Clone)]
pub struct Search {
    candidates: Vec<(PathBuf, Kind)>,
    user_home: Option<PathBuf>,
    supplied: Map<PathBuf, Result<Read, Unavailable>>,
}

#[derive(Debug, Clone)]
struct Read {
    content: Content,
    imports: Vec<PathBuf>,
}

impl Search {
    /// A search that has not seen anything yet.
    pub fn new(places: &Places) -> Self {
        Self {
            candidates: places.candidates(),
            user_home: places.user_home.clone(),
            supplied: Map::default(),
        }
    }

    /// The files to be read next, each to be supplied, in any order. None when the search is done.
    pub fn wanted(&self) -> Vec<PathBuf> {
        Walk::of(self).wanted
    }

    /// Takes the content of a file, or why there is none.
    pub fn supply(&mut self, path: &Path, content: Result<Content, Unavailable>) {
        let read = content.map(|content| {
            let folder = path.parent().unwrap_or(path);
            let text = without_front_matter(&content.text);
            let imports = imports(text).into_iter();
            Read {
                imports: imports
                    .filter_map(|import| self.resolve(folder, &import))
                    .collect(),
                content,
            }
        });
        self.supplied.insert(path.to_owned(), read);
    }

    /// What was found. What was wanted and not supplied is a notice.
    pub fn finish(self) -> Found {
        let walk = Walk::of(&self);
        let mut found = walk.found;
        let not_supplied = walk.wanted.into_iter();
        (found.notices).extend(not_supplied.map(|path| Notice::NotSupplied { path }));
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

/// One look through all that is known.
struct Walk<'s> {
    search: &'s Search,
    found: Found,
    wanted: Vec<PathBuf>,
    seen_paths: Set<&'s Path>,
    seen_files: Set<&'s Path>,
    seen_texts: Map<&'s str, &'s Path>,
    imports: usize,
}

impl<'s> Walk<'s> {
    fn of(search: &'s Search) -> Self {
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
            std::cmp::Ordering::Less => self.visit(path, kind, Some(by), depth),
            std::cmp::Ordering::Equal => self.found.notices.push(Notice::TooMany {
                most: MOST_IMPORTS,
                imported_by,
            }),
            std::cmp::Ordering::Greater => {}
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

//! Finds the repository around a folder as git would, without running git: what it finds is read as data.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The maximum size of a configuration, attributes file or pointer. Nobody writes larger ones by hand.
const LARGEST: u64 = 1 << 20;

/// A repository with a working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The folder that holds `.git`.
    pub(super) root: PathBuf,
    /// The git folder of this working tree alone.
    pub(super) own: PathBuf,
    /// The git folder that all working trees share; often the same folder.
    pub(super) common: PathBuf,
    /// Whether `.git` is a file that points to it.
    pub(super) pointed: bool,
}

/// The repository around a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RepositoryLookup {
    /// There is no repository.
    Nothing,
    /// There is a repository with a working tree.
    Repository(Repository),
    /// This folder is one that git would treat as a repository without a working tree.
    Bare(PathBuf),
    /// This path looks like a repository, but that is not certain.
    Unclear(PathBuf),
}

/// Finds the repository around a folder.
pub(super) fn around(folder: &Path) -> RepositoryLookup {
    let folder = resolved(folder);
    for at in folder.ancestors() {
        let dot_git = at.join(".git");
        let Ok(about) = fs::symlink_metadata(&dot_git) else {
            match made_like(at) {
                GitFolderLikeness::Whole => return RepositoryLookup::Bare(at.to_owned()),
                // Git ignores it, and it may well be an ordinary folder.
                GitFolderLikeness::Partial | GitFolderLikeness::None => continue,
            }
        };
        let (own, pointed) = if about.is_file() {
            match pointer(&dot_git) {
                Some(own) => (own, true),
                None => return RepositoryLookup::Unclear(dot_git),
            }
        } else if about.is_dir() {
            match made_like(&dot_git) {
                GitFolderLikeness::Whole => (dot_git, false),
                GitFolderLikeness::None => continue,
                GitFolderLikeness::Partial => return RepositoryLookup::Unclear(dot_git),
            }
        } else {
            // A link: its target belongs to someone else.
            return RepositoryLookup::Unclear(dot_git);
        };
        let common = match read(&own.join("commondir")) {
            SmallFileText::Missing => own.clone(),
            SmallFileText::Is(text) => resolved(&own.join(text.trim_end_matches(['\n', '\r']))),
            SmallFileText::Unreadable => return RepositoryLookup::Unclear(own),
        };
        return RepositoryLookup::Repository(Repository {
            root: at.to_owned(),
            own,
            common,
            pointed,
        });
    }
    RepositoryLookup::Nothing
}

/// The folder around this one that holds `.git`; none without a repository, or if it cannot be determined.
pub(crate) fn root(folder: &Path) -> Option<PathBuf> {
    match around(folder) {
        RepositoryLookup::Repository(found) => Some(found.root),
        _ => None,
    }
}

/// The branch that is checked out around a folder, read from the repository's own file.
pub(crate) fn branch(folder: &Path) -> Option<String> {
    let RepositoryLookup::Repository(found) = around(folder) else {
        return None;
    };
    let SmallFileText::Is(head) = read(&found.own.join("HEAD")) else {
        return None;
    };
    let name = head.trim_end().strip_prefix("ref: refs/heads/")?;
    // No branch has such a name: someone wants it to be read as more than a name.
    let odd = name.contains(|c: char| c.is_whitespace() || c.is_control());
    (!odd).then(|| name.to_owned())
}

/// How much a folder looks like one of git's own folders.
enum GitFolderLikeness {
    Whole,
    Partial,
    None,
}

fn made_like(folder: &Path) -> GitFolderLikeness {
    let has = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    let (head, shared) = (has("HEAD"), has("commondir"));
    match (head, shared, has("objects"), has("refs")) {
        (true, true, ..) | (true, _, true, true) => GitFolderLikeness::Whole,
        (false, false, false, false) => GitFolderLikeness::None,
        _ => GitFolderLikeness::Partial,
    }
}

/// A path with its links resolved; unchanged if that is not possible.
pub(super) fn resolved(path: &Path) -> PathBuf {
    longhaul_store::real_path(path).unwrap_or_else(|_| path.to_owned())
}

/// Where a `.git` file points to.
fn pointer(file: &Path) -> Option<PathBuf> {
    let SmallFileText::Is(text) = read(file) else {
        return None;
    };
    let path = text
        .strip_prefix("gitdir: ")?
        .trim_end_matches(['\n', '\r']);
    let path = file.parent()?.join(path);
    path.is_dir().then(|| resolved(&path))
}

/// The text of a small file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SmallFileText {
    Is(String),
    Missing,
    /// The path is not a file, is too large, is not text, or cannot be opened.
    Unreadable,
}

/// Reads a small file; a pipe or device in its place is not opened.
pub(super) fn read(path: &Path) -> SmallFileText {
    match fs::metadata(path) {
        Ok(about) if about.is_file() && about.len() <= LARGEST => {}
        Ok(_) => return SmallFileText::Unreadable,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // A dangling link may lead somewhere soon.
            return match fs::symlink_metadata(path) {
                Ok(_) => SmallFileText::Unreadable,
                Err(_) => SmallFileText::Missing,
            };
        }
        // There is a file where a folder should be.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return SmallFileText::Missing;
        }
        Err(_) => return SmallFileText::Unreadable,
    }
    let mut bytes = Vec::new();
    let opened = fs::File::open(path).map(|file| file.take(LARGEST + 1));
    match opened.and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) if bytes.len() as u64 <= LARGEST => {
            String::from_utf8(bytes).map_or(SmallFileText::Unreadable, SmallFileText::Is)
        }
        _ => SmallFileText::Unreadable,
    }
}

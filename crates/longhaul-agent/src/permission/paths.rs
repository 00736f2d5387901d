//! Paths as the system would resolve them. `path_pattern.rs` holds patterns of them.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::spelling::as_on_disk;

/// A path as it is named and as it is found: with `..` removed, and with all links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocatedPath {
    pub(crate) named: PathBuf,
    pub(crate) real: PathBuf,
}

impl LocatedPath {
    /// Finds a path. The parts of it that do not exist yet keep their names.
    pub(crate) fn find(path: &Path) -> Self {
        Self {
            named: tidy(path),
            real: resolve(path),
        }
    }
}

/// Removes `.` and `..` by their names alone.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            _ => tidy.push(component),
        }
    }
    tidy
}

/// Resolves all links as the system does, including a link to a missing file: its target is what would be written.
/// Parts that do not exist keep their names.
fn resolve(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut real = PathBuf::new();
    let mut links = 0;
    let mut open: Vec<OsString> = names(path);
    while let Some(name) = open.pop() {
        match Path::new(&name).components().next() {
            Some(Component::ParentDir) => {
                real.pop();
                continue;
            }
            Some(Component::CurDir) | None => continue,
            Some(_) => real.push(&name),
        }
        if let Ok(target) = fs::read_link(&real) {
            links += 1;
            if links > MOST_LINKS {
                return tidy(path);
            }
            real.pop();
            open.extend(names(&target));
        }
    }
    as_on_disk(real)
}

/// The names of a path, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.components().rev();
    names.map(|name| name.as_os_str().to_owned()).collect()
}

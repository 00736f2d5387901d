//! Where a path leads: absolute, with `..` and symbolic links resolved, even if nothing exists there yet.
//!
//! The system's own function (`canonicalize`) only handles paths that exist; a dangling link would appear to be inside.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::UnusableFile;

/// The maximum number of links, as in operating systems.
const MOST_LINKS: usize = 40;

/// Resolves an absolute path. Parts that do not exist are taken as they are written.
pub fn resolve(path: &Path) -> Result<PathBuf, UnusableFile> {
    let mut rest: Vec<PathStep> = steps(path);
    let mut at = PathBuf::new();
    let mut links = 0;
    while let Some(step) = rest.pop() {
        match step {
            PathStep::Root(root) => at = root,
            // The resolved part has no links left, so its parent is simply the path without the last name.
            PathStep::Up => {
                at.pop();
            }
            PathStep::Down(name) => {
                at.push(&name);
                let Ok(target) = std::fs::read_link(&at) else {
                    continue;
                };
                links += 1;
                if links > MOST_LINKS {
                    return Err(UnusableFile::Links(path.to_owned()));
                }
                at.pop();
                rest.extend(steps(&target));
            }
        }
    }
    Ok(at)
}

enum PathStep {
    Root(PathBuf),
    Up,
    Down(OsString),
}

/// The steps of a path, the last one first.
fn steps(path: &Path) -> Vec<PathStep> {
    let mut root = PathBuf::new();
    let mut steps = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => root.push(component),
            Component::CurDir => {}
            Component::ParentDir => steps.push(PathStep::Up),
            Component::Normal(name) => steps.push(PathStep::Down(name.to_owned())),
        }
    }
    if !root.as_os_str().is_empty() {
        steps.insert(0, PathStep::Root(root));
    }
    steps.reverse();
    steps
}

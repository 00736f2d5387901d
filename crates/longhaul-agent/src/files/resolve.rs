//! Where a path leads: absolute, `..` and symbolic links resolved, also if nothing is there yet.
//!
//! The system's own way (`canonicalize`) only knows paths that exist; a link that dangles would look as if it were inside.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::UnusableFile;

/// As many links as systems follow.
const MOST_LINKS: usize = 40;

/// Where an absolute path leads. What does not exist is taken as it is written.
pub fn resolve(path: &Path) -> Result<PathBuf, UnusableFile> {
    let mut rest: Vec<PathStep> = steps(path);
    let mut at = PathBuf::new();
    let mut links = 0;
    while let Some(step) = rest.pop() {
        match step {
            PathStep::Root(root) => at = root,
            // What is resolved has no links left, so its parent is the one that it is written in.
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

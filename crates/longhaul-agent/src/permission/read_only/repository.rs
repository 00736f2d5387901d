//! Which repository git would find. Each has settings of its own, and they can make git run programs.

use std::path::{Path, PathBuf};

use crate::permission::paths::Located;

/// Whether git finds the same repository in all of these folders as in the one that the user works in.
pub(super) fn is_the_same(folders: &[PathBuf], cwd: &Path) -> bool {
    let there = |folder: &PathBuf| match folder == cwd {
        true => true,
        false => found(folder).is_some_and(|root| found(cwd) == Some(root)),
    };
    folders.iter().all(there)
}

/// The folder of the repository around this one. None: there is none, or a bare one may come first.
fn found(folder: &Path) -> Option<PathBuf> {
    let real = Located::find(folder).real;
    for above in real.ancestors() {
        if above.join(".git").symlink_metadata().is_ok() {
            return Some(above.to_owned());
        }
        if above.join("HEAD").symlink_metadata().is_ok() {
            return None;
        }
    }
    None
}

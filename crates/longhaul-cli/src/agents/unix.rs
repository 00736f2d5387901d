//! Programs on Unix: files that may be run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The program with this name in a folder.
pub(super) fn program(folder: &Path, name: &str) -> Option<PathBuf> {
    let file = folder.join(name);
    let found = std::fs::metadata(&file).ok()?;
    (found.is_file() && found.permissions().mode() & 0o111 != 0).then_some(file)
}

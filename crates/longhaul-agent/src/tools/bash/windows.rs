//! Paths as the shell of Git for Windows writes them.

use std::path::PathBuf;

/// The command that prints the shell's folder: as `C:/a`, where it would otherwise be `/c/a`.
pub(super) const PWD: &str = "pwd -W";

/// A path as the shell wrote it.
pub(super) fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

//! Paths as the shell writes them on Unix.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// The command that prints the shell's folder.
pub(super) const PWD: &str = "pwd -P";

/// A path as the shell wrote it.
pub(super) fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    Some(OsStr::from_bytes(bytes).into())
}

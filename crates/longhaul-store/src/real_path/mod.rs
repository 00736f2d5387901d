//! Where a path leads: absolute and without links, as people and other programs write it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Where a path leads. The same file has the same path, whichever way it is reached.
///
/// # Errors
/// The error of the system, also if nothing is there.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    system::real_path(path)
}

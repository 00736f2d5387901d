//! On Unix, the system says it.

use std::io;
use std::path::{Path, PathBuf};

pub(super) fn real_path(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

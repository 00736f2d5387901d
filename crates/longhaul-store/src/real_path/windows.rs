//! On Windows, the system says `\\?\C:\a`, which few programs take for a path, and which is not below `C:\`.

use std::io;
use std::path::{Path, PathBuf};

pub(super) fn real_path(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

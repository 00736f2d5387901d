//! A program on Unix is a file that may be run.

use std::fs::{Permissions, set_permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

pub(super) fn make_executable(path: &Path) -> io::Result<()> {
    set_permissions(path, Permissions::from_mode(0o755))
}

//! What is known of a folder on Unix: modes, and the file system's own figures.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{Access, access, statvfs};

pub(super) const MAKE_IT_YOURS: &str =
    "Make it yours (chown, chmod u+rwx), or set LONGHAUL_HOME to another folder.";

pub(super) fn may_write(folder: &Path) -> bool {
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

pub(super) fn is_open_to_others(found: &Metadata) -> bool {
    found.mode() & 0o077 != 0
}

pub(super) fn close_to_others(folder: &Path) -> String {
    format!("chmod 700 {}", folder.display())
}

/// Says that nobody else may look into a folder.
pub(super) fn is_private(folder: &Path) -> String {
    format!("{} is yours alone", folder.display())
}

/// The bytes that are free where a folder is.
pub(super) fn free_space(folder: &Path) -> Option<u64> {
    let found = statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

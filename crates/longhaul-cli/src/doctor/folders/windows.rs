//! What is known of a folder on Windows: less than elsewhere. Who may read it is not looked up.

use std::fs::Metadata;
use std::path::Path;

pub(super) const MAKE_IT_YOURS: &str =
    "Give yourself the right to write to it, or set LONGHAUL_HOME to another folder.";

pub(super) fn may_write(folder: &Path) -> bool {
    std::fs::metadata(folder).is_ok_and(|found| !found.permissions().readonly())
}

pub(super) fn is_open_to_others(_: &Metadata) -> bool {
    false
}

pub(super) fn close_to_others(folder: &Path) -> String {
    format!(
        "Take away from others the right to read {}.",
        folder.display()
    )
}

/// Says who may look into a folder, as far as that is known.
pub(super) fn is_private(folder: &Path) -> String {
    format!(
        "{} can be used; below your profile it is yours alone",
        folder.display()
    )
}

/// Not looked up.
pub(super) fn free_space(_: &Path) -> Option<u64> {
    None
}

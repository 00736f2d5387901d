//! Every name is spelled in one way.

use std::path::PathBuf;

pub(in crate::permission) const IGNORES_CASE: bool = false;

pub(in crate::permission) fn as_on_disk(path: PathBuf) -> PathBuf {
    path
}

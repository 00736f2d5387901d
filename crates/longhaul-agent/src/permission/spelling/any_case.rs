//! A file is found by its name in any case. A volume may be told to be exact there, too: then a rule holds for more names
//! than it has to.

use std::path::PathBuf;

use longhaul_store::real_path;

pub(in crate::permission) const IGNORES_CASE: bool = true;

/// The path with names as the folders hold them, as far as it exists.
pub(in crate::permission) fn as_on_disk(path: PathBuf) -> PathBuf {
    for part in path.ancestors() {
        if let (Ok(found), Ok(rest)) = (real_path(part), path.strip_prefix(part)) {
            return rest.components().fold(found, |path, name| path.join(name));
        }
    }
    path
}

//! Whether an archive can be written, asked before something is moved into it.

use std::path::Path;

use super::ArchiveError;
use crate::private;

/// Checks that the folder of an archive can be made and written to. Nothing is left there.
///
/// # Errors
/// Fails if it cannot; the reason is the system's.
pub fn check_writable(path: &Path) -> Result<(), ArchiveError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    private::create_folders(folder)
        .and_then(|()| tempfile::tempfile_in(folder))
        .map(drop)
        .map_err(|error| ArchiveError::Unusable {
            path: path.to_owned(),
            reason: error.to_string(),
        })
}

//! Changing files on Windows: links on the way are looked for before.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use longhaul::resolved_file::refuse_links;

use super::{FileFingerprint, ReplaceOutcome};

/// Writes a file by its resolved path, in one step.
pub(super) fn write(path: &Path, content: &[u8]) -> io::Result<(ReplaceOutcome, FileFingerprint)> {
    refuse_links(path)?;
    let outcome = match fs::symlink_metadata(path) {
        Ok(before) if before.is_file() => ReplaceOutcome::Changed,
        Ok(_) => return Err(io::ErrorKind::IsADirectory.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => ReplaceOutcome::New,
        Err(error) => return Err(error),
    };
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    let file = file.persist(path).map_err(|error| error.error)?;
    Ok((outcome, FileFingerprint::of(content, &file.metadata()?)))
}

/// Removes a file by its resolved path.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    refuse_links(path)?;
    fs::remove_file(path)
}

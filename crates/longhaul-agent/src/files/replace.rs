//! Replaces a file's content in one step: the new content is written next to it, then moved over it. Readers see the
//! old or the new content, never a part; a full disk leaves the old content.

use std::path::Path;

use super::{FileFingerprint, ReplaceOutcome, UnusableFile, system};

/// Writes a file by its resolved path. Its permissions are kept, and missing folders are created.
pub fn replace(
    path: &Path,
    content: &[u8],
) -> Result<(ReplaceOutcome, FileFingerprint), UnusableFile> {
    system::write(path, content).map_err(|error| UnusableFile::of(path, error))
}

//! Private files on Windows: what lies below a user's profile is theirs and the administrators' alone, because it takes over
//! the permissions of the profile. A folder elsewhere is as private as its user has made it.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

pub(super) fn keep_file_private(_: &mut OpenOptions) {}

pub(super) fn keep_folder_private(_: &mut DirBuilder) {}

/// The file system writes names to its journal by itself, and a folder cannot be opened like a file.
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

//! On Windows, a file has to be open to be told from another.

use std::fs::File;
use std::io;
use std::path::Path;

use same_file::Handle;

use super::FileIdentity;

/// Used for databases, which cannot be deleted or replaced while they are open here: what is at the path is the file.
pub(super) fn identity(path: &Path) -> Option<FileIdentity> {
    path.exists().then_some(FileIdentity(0, 0))
}

pub(super) fn names(path: &Path, file: &File) -> io::Result<bool> {
    Ok(Handle::from_path(path)? == Handle::from_file(file.try_clone()?)?)
}

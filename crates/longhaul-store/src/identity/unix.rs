//! On Unix, a device and a number on it are a file.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::FileIdentity;

pub(super) fn identity(path: &Path) -> Option<FileIdentity> {
    fs::metadata(path).ok().as_ref().map(of)
}

pub(super) fn names(path: &Path, file: &File) -> io::Result<bool> {
    Ok(of(&fs::metadata(path)?) == of(&file.metadata()?))
}

fn of(file: &Metadata) -> FileIdentity {
    FileIdentity(file.dev(), file.ino())
}

//! On Windows, a folder cannot be opened in another one: links on the way are looked for, and the file is opened after that.
//! Somebody who may change the folders can put a link there in between.

use std::fs::File;
use std::io;
use std::path::{Component, Path, Prefix};

/// What the system says where it meets a link and was told to follow none (`ERROR_STOPPED_ON_SYMLINK`).
pub(super) const LINK_FOUND: i32 = 681;

/// Devices have a root of their own; those with old names (`NUL`, `COM1`) are nothing that can be asked for its kind.
pub(super) fn is_of_the_kernel(path: &Path) -> bool {
    match path.components().next() {
        Some(Component::Prefix(prefix)) => matches!(prefix.kind(), Prefix::DeviceNS(_)),
        _ => false,
    }
}

pub(super) fn open_without_links(path: &Path) -> io::Result<File> {
    refuse_links(path)?;
    File::open(path)
}

/// Refuses a path on which there is a link, and a link in place of the file. What does not exist is none.
///
/// # Errors
/// One that [`is_link_found`](super::is_link_found) knows for a link, otherwise the error of the system.
pub fn refuse_links(path: &Path) -> io::Result<()> {
    for part in path.ancestors() {
        match std::fs::symlink_metadata(part) {
            Ok(found) if found.file_type().is_symlink() => {
                return Err(io::Error::from_raw_os_error(LINK_FOUND));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

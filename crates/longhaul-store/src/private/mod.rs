//! Files and folders that only their user may read, and that survive a power cut once they are reported to exist.
//!
//! How a system does that is in `unix.rs` and `windows.rs`.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Opens a file for reading and appending; a missing one is created, private, with its parent folders.
pub(crate) fn open_to_append(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        create_folders(folder)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    keep_private(&mut options).open(path)
}

/// Creates an empty private file with its parent folders, unless it exists. An existing file is not opened, because
/// closing it again would drop the locks that others in this process hold on it.
///
/// # Errors
/// Fails if the file or a folder above it cannot be created.
pub fn create_file(path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        create_folders(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    match keep_private(&mut options).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(_) => sync_folder_of(path),
    }
}

/// A file that is created with these options is private.
pub fn keep_private(options: &mut OpenOptions) -> &mut OpenOptions {
    system::keep_file_private(options);
    options
}

/// Creates a folder and its missing parents, private, each on disk before the next.
///
/// # Errors
/// Fails if one of them cannot be created; those above it stay.
pub fn create_folders(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        create_folders(above)?;
    }
    let mut builder = DirBuilder::new();
    system::keep_folder_private(&mut builder);
    match builder.create(folder) {
        // Another process created the folder first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_folder_of(folder),
    }
}

/// Waits until the folder that holds `path` is on disk, and with it the name of `path`.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => system::sync_folder(Path::new(".")),
        Some(folder) => system::sync_folder(folder),
        None => Ok(()),
    }
}

//! Files and folders that only their user may read, and that survive a power cut once they are reported to exist.
//!
//! On systems without Unix modes the platform's defaults for a user's data folder apply.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Opens a file for reading and appending; a missing one is created, private, with its parent folders.
pub(crate) fn open_to_append(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        create_folders(folder)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
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
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(_) => sync_folder_of(path),
    }
}

/// Creates a folder and its missing parents, private, each on disk before the next.
pub(crate) fn create_folders(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        create_folders(above)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
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
        Some(folder) if folder.as_os_str().is_empty() => sync_folder(Path::new(".")),
        Some(folder) => sync_folder(folder),
        None => Ok(()),
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // File systems that cannot sync a folder (some network ones) report it this way; there is nothing more to do.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether `path` still names the open `file`, rather than another one or nothing.
pub(crate) fn still_names(path: &Path, file: &File) -> io::Result<bool> {
    let named = match fs::metadata(path) {
        Ok(named) => named,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let open = file.metadata()?;
    #[cfg(unix)]
    let same = {
        use std::os::unix::fs::MetadataExt;
        (named.dev(), named.ino()) == (open.dev(), open.ino())
    };
    #[cfg(not(unix))]
    let same = named.file_type() == open.file_type();
    Ok(same)
}

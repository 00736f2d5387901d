//! Opens files by resolved paths: no link is followed on the way, so a path leads to the file that was judged, whatever
//! has appeared in its place since.
//!
//! Resolving a path, and deciding whether it may be read, is for the caller.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

#[cfg(unix)]
pub use unix::{MissingFolders, parent};
#[cfg(windows)]
pub use windows::refuse_links;

/// Opens a regular file to read it. The path must be absolute and have no links; a link on the way, or in place of the
/// file, is an error.
///
/// # Errors
/// The error of the system; a pipe, a device or a file that the kernel generates is [`io::ErrorKind::InvalidInput`].
pub fn open(path: &Path) -> io::Result<File> {
    if is_of_the_kernel(path) {
        return Err(no_file());
    }
    // Checked before opening, since opening alone can start a device, and again after, since it may be another file by
    // then.
    let kind = std::fs::symlink_metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_symlink() {
        return Err(if kind.is_dir() {
            io::ErrorKind::IsADirectory.into()
        } else {
            no_file()
        });
    }
    let file = system::open_without_links(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(no_file())
    }
}

fn no_file() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "it is a pipe, a socket, a device or a file of the kernel",
    )
}

/// Whether this is the error for a link on the way, or in place of the file.
pub fn is_link_found(error: &io::Error) -> bool {
    error.raw_os_error() == Some(system::LINK_FOUND)
}

/// Whether the kernel generates the file: such files call themselves regular, and some block, some never end, and some
/// hold the environment of a process.
pub fn is_of_the_kernel(path: &Path) -> bool {
    system::is_of_the_kernel(path)
}

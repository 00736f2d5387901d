//! Opens files by resolved paths: no link is followed on the way, so a path leads to the file that was judged, whatever
//! has appeared in its place since.
//!
//! Resolving a path, and deciding whether it may be read, is for the caller.

use std::fs::File;
use std::io;
use std::path::Path;

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
    let file = open_without_links(path)?;
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

/// Whether the kernel generates the file: such files call themselves regular, and some block, some never end, and some
/// hold the environment of a process.
pub fn is_of_the_kernel(path: &Path) -> bool {
    // Shared memory is below it, and is ordinary.
    let ordinary = path.starts_with("/dev/shm");
    cfg!(unix)
        && !ordinary
        && ["/dev", "/proc", "/sys"]
            .iter()
            .any(|it| path.starts_with(it))
}

#[cfg(unix)]
fn open_without_links(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let (folder, name) = parent(path, MissingFolders::IsAnError)?;
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(&folder, name, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open_without_links(path: &Path) -> io::Result<File> {
    if std::fs::symlink_metadata(path)?.file_type().is_symlink() {
        Err(io::ErrorKind::InvalidInput.into())
    } else {
        File::open(path)
    }
}

/// What to do about missing folders.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingFolders {
    /// A missing folder is an error.
    IsAnError,
    /// Missing folders are created.
    IsMade,
}

/// The folder of a resolved path, opened without following a link, and the file's name in it.
///
/// # Errors
/// The error of the system, also for a link on the way.
#[cfg(unix)]
pub fn parent(
    path: &Path,
    missing: MissingFolders,
) -> io::Result<(std::os::fd::OwnedFd, &std::ffi::OsStr)> {
    use rustix::fs::{CWD, Mode, OFlags};
    use rustix::io::Errno;
    let name = path.file_name().ok_or(Errno::ISDIR)?;
    let entered = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | ENTERED;
    let mut folder = rustix::fs::openat(CWD, "/", entered, Mode::empty())?;
    for component in path.parent().ok_or(Errno::ISDIR)?.components() {
        let std::path::Component::Normal(name) = component else {
            continue;
        };
        let mut next = rustix::fs::openat(&folder, name, entered, Mode::empty());
        if next.as_ref().err() == Some(&Errno::NOENT) && missing == MissingFolders::IsMade {
            match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            next = rustix::fs::openat(&folder, name, entered, Mode::empty());
        }
        folder = next?;
    }
    Ok((folder, name))
}

/// A folder need not be readable to be traversed.
#[cfg(target_os = "linux")]
const ENTERED: rustix::fs::OFlags = rustix::fs::OFlags::PATH;
#[cfg(all(unix, not(target_os = "linux")))]
const ENTERED: rustix::fs::OFlags = rustix::fs::OFlags::RDONLY;

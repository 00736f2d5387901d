//! On Unix, each folder is opened in the one above it, and none through a link.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

/// The error of the system for a link where none is followed.
pub(super) const LINK_FOUND: i32 = Errno::LOOP.raw_os_error();

pub(super) fn is_of_the_kernel(path: &Path) -> bool {
    // Shared memory is below it, and is ordinary.
    let ordinary = path.starts_with("/dev/shm");
    !ordinary
        && ["/dev", "/proc", "/sys"]
            .iter()
            .any(|it| path.starts_with(it))
}

pub(super) fn open_without_links(path: &Path) -> io::Result<File> {
    let (folder, name) = parent(path, MissingFolders::IsAnError)?;
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(openat(&folder, name, flags, Mode::empty())?.into())
}

/// What to do about missing folders.
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
pub fn parent(path: &Path, missing: MissingFolders) -> io::Result<(OwnedFd, &OsStr)> {
    let name = path.file_name().ok_or(Errno::ISDIR)?;
    let entered = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | ENTERED;
    let mut folder = openat(CWD, "/", entered, Mode::empty())?;
    for component in path.parent().ok_or(Errno::ISDIR)?.components() {
        let Component::Normal(name) = component else {
            continue;
        };
        let mut next = openat(&folder, name, entered, Mode::empty());
        if next.as_ref().err() == Some(&Errno::NOENT) && missing == MissingFolders::IsMade {
            match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            next = openat(&folder, name, entered, Mode::empty());
        }
        folder = next?;
    }
    Ok((folder, name))
}

/// A folder need not be readable to be traversed.
#[cfg(target_os = "linux")]
const ENTERED: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ENTERED: OFlags = OFlags::RDONLY;

//! Opens a regular file by a resolved path. No link is followed on the way, so the path still leads where it was judged to
//! lead; nothing that could block or answer for a device is opened.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Print, Unfit};

/// Files up to here are read whole; longer ones in ranges only, and they are recognised by time and size.
pub const WHOLE: u64 = 16 << 20;

/// An open regular file.
#[derive(Debug)]
pub struct Opened {
    /// It.
    pub file: File,
    /// What the system says about it.
    pub metadata: Metadata,
    path: PathBuf,
}

impl Opened {
    /// Opens a file to read it.
    pub fn regular(path: &Path) -> Result<Self, Unfit> {
        if is_of_the_kernel(path) {
            return Err(Unfit::Special(path.to_owned()));
        }
        // Looked at first, since opening alone can set a device to work, and after, since it may be another by then.
        let before = std::fs::symlink_metadata(path).map_err(|error| Unfit::of(path, error))?;
        judge(path, &before)?;
        let file = open(path).map_err(|error| Unfit::of(path, error))?;
        let metadata = file.metadata().map_err(|error| Unfit::of(path, error))?;
        judge(path, &metadata)?;
        Ok(Self {
            file,
            metadata,
            path: path.to_owned(),
        })
    }

    /// Whether it is short enough to be read whole.
    pub fn is_short(&self) -> bool {
        self.metadata.len() <= WHOLE
    }

    /// Its content, up to [`WHOLE`].
    pub fn content(self) -> Result<Vec<u8>, Unfit> {
        let mut content = Vec::new();
        let read = self.file.take(WHOLE).read_to_end(&mut content);
        read.map_err(|error| Unfit::of(&self.path, error))?;
        Ok(content)
    }

    /// By what it is recognised.
    pub fn print(self) -> Result<Print, Unfit> {
        let metadata = self.metadata.clone();
        match self.is_short() {
            true => Ok(Print::of(&self.content()?, &metadata)),
            false => Ok(Print::at_a_glance(&metadata)),
        }
    }
}

fn judge(path: &Path, metadata: &Metadata) -> Result<(), Unfit> {
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(Unfit::Folder(path.to_owned())),
        kind if kind.is_symlink() => Err(Unfit::Swapped(path.to_owned())),
        _ => Err(Unfit::Special(path.to_owned())),
    }
}

/// Files that the kernel makes up call themselves regular; some block, some never end.
fn is_of_the_kernel(path: &Path) -> bool {
    // Shared memory is in there, and is ordinary.
    let ordinary = path.starts_with("/dev/shm");
    cfg!(unix)
        && !ordinary
        && ["/dev", "/proc", "/sys"]
            .iter()
            .any(|it| path.starts_with(it))
}

#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let (folder, name) = parent(path, Missing::IsAnError)?;
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(&folder, name, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

/// What to do about folders that are not there.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    IsAnError,
    IsMade,
}

/// The folder that a resolved path lies in, reached without following a link, and the name in it.
#[cfg(unix)]
pub(super) fn parent(
    path: &Path,
    missing: Missing,
) -> std::io::Result<(std::os::fd::OwnedFd, &std::ffi::OsStr)> {
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
        if next.as_ref().err() == Some(&Errno::NOENT) && missing == Missing::IsMade {
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

/// A folder need not be readable to be passed through.
#[cfg(target_os = "linux")]
const ENTERED: rustix::fs::OFlags = rustix::fs::OFlags::PATH;
#[cfg(all(unix, not(target_os = "linux")))]
const ENTERED: rustix::fs::OFlags = rustix::fs::OFlags::RDONLY;

//! Why a file cannot be used as requested, in sentences that say what to do instead.

use std::io;
use std::path::{Path, PathBuf};

use longhaul::resolved_file::is_link_found;
use thiserror::Error;

/// Why a file cannot be used as requested.
#[derive(Debug, Error)]
pub enum UnusableFile {
    /// There is no path, or one that no file can have.
    #[error("The path is empty or has a NUL in it. Give the path of a file.")]
    NoPath,
    /// Links lead around in a circle.
    #[error("{} leads through too many symbolic links. Name the file itself.", .0.display())]
    Links(PathBuf),
    /// The file does not exist.
    #[error("{} does not exist. Look for it with Glob.", .0.display())]
    Missing(PathBuf),
    /// The path is a folder.
    #[error("{} is a folder. List it with Glob, or with ls in Bash.", .0.display())]
    Folder(PathBuf),
    /// The path is a pipe, a socket, a device or a file of the kernel.
    #[error("{} is not a regular file (a pipe, socket, device or kernel file) and is not opened.", .0.display())]
    Special(PathBuf),
    /// The file may not be opened.
    #[error("{} may not be opened: permission denied by the system. Ask the user to change its permissions.", .0.display())]
    Denied(PathBuf),
    /// A link appeared on the path between the check and the opening.
    #[error("{} became a symbolic link, or leads through one now. Nothing was done; try again.", .0.display())]
    Swapped(PathBuf),
    /// A part of the path is a file.
    #[error("{} cannot be reached: a part of its path is a file, not a folder.", .0.display())]
    NotAFolder(PathBuf),
    /// The disk is full.
    #[error("There is no space left for {}. The file is as it was. Ask the user to free some.", .0.display())]
    Full(PathBuf),
    /// Another error.
    #[error("{}: {error}.", path.display())]
    Other {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl UnusableFile {
    /// Interprets the system's error for this file.
    pub fn of(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing(path),
            io::ErrorKind::PermissionDenied => Self::Denied(path),
            io::ErrorKind::IsADirectory => Self::Folder(path),
            io::ErrorKind::NotADirectory => Self::NotAFolder(path),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path),
            _ if is_link_found(&error) => Self::Swapped(path),
            _ => Self::Other { path, error },
        }
    }
}

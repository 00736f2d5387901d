//! Opens a regular file by a resolved path. No link is followed on the way, so the path still leads where it was judged to
//! lead; nothing that could block or answer for a device is opened.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use longhaul::resolved_file;

use super::{FileFingerprint, UnusableFile};

/// Files up to here are read whole; longer ones in ranges only, and they are recognised by time and size.
pub(crate) const WHOLE: u64 = 16 << 20;

/// An open regular file.
#[derive(Debug)]
pub struct OpenedFile {
    /// It.
    pub file: File,
    /// What the system says about it.
    pub metadata: Metadata,
    path: PathBuf,
}

impl OpenedFile {
    /// Opens a file to read it.
    pub fn regular(path: &Path) -> Result<Self, UnusableFile> {
        if resolved_file::is_of_the_kernel(path) {
            return Err(UnusableFile::Special(path.to_owned()));
        }
        // Looked at first, since opening alone can set a device to work, and after, since it may be another by then.
        let before =
            std::fs::symlink_metadata(path).map_err(|error| UnusableFile::of(path, error))?;
        judge(path, &before)?;
        let file = resolved_file::open(path).map_err(|error| UnusableFile::of(path, error))?;
        let metadata = file
            .metadata()
            .map_err(|error| UnusableFile::of(path, error))?;
        judge(path, &metadata)?;
        Ok(Self {
            file,
            metadata,
            path: path.to_owned(),
        })
    }

    /// Whether it is short enough to be read whole.
    pub(crate) fn is_short(&self) -> bool {
        self.metadata.len() <= WHOLE
    }

    /// Its content, up to [`WHOLE`].
    pub fn content(self) -> Result<Vec<u8>, UnusableFile> {
        let mut content = Vec::new();
        let read = self.file.take(WHOLE).read_to_end(&mut content);
        read.map_err(|error| UnusableFile::of(&self.path, error))?;
        Ok(content)
    }

    /// By what it is recognised.
    pub fn print(self) -> Result<FileFingerprint, UnusableFile> {
        let metadata = self.metadata.clone();
        if self.is_short() {
            Ok(FileFingerprint::of(&self.content()?, &metadata))
        } else {
            Ok(FileFingerprint::at_a_glance(&metadata))
        }
    }
}

fn judge(path: &Path, metadata: &Metadata) -> Result<(), UnusableFile> {
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(UnusableFile::Folder(path.to_owned())),
        kind if kind.is_symlink() => Err(UnusableFile::Swapped(path.to_owned())),
        _ => Err(UnusableFile::Special(path.to_owned())),
    }
}

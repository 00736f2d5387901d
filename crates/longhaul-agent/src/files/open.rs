//! Opens a regular file by a resolved path. No link is followed on the way, so the path still leads where it did when
//! it was checked; nothing that could block or act as a device is opened.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use longhaul::resolved_file;

use super::{FileFingerprint, UnusableFile};

/// Files up to this size are read completely; longer ones are read only in ranges, and recognized by time and size.
pub(crate) const WHOLE: u64 = 16 << 20;

/// An open regular file.
#[derive(Debug)]
pub struct OpenedFile {
    /// The file itself.
    pub file: File,
    /// The metadata of the file.
    pub metadata: Metadata,
    path: PathBuf,
}

impl OpenedFile {
    /// Opens a file to read it.
    pub fn regular(path: &Path) -> Result<Self, UnusableFile> {
        if resolved_file::is_of_the_kernel(path) {
            return Err(UnusableFile::Special(path.to_owned()));
        }
        // The file is checked before, because opening a device can already trigger it, and after, because it may be
        // another file by then.
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

    /// Whether the file is short enough to be read completely.
    pub(crate) fn is_short(&self) -> bool {
        self.metadata.len() <= WHOLE
    }

    /// The content of the file, up to `WHOLE`.
    pub fn content(self) -> Result<Vec<u8>, UnusableFile> {
        let mut content = Vec::new();
        let read = self.file.take(WHOLE).read_to_end(&mut content);
        read.map_err(|error| UnusableFile::of(&self.path, error))?;
        Ok(content)
    }

    /// The fingerprint of the file.
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

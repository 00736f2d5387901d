//! The seam between the writer and the disk, so that the order of its steps can be tested.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::private;

/// Where a writer's bytes go. An implementation must not return successfully from [`Medium::sync`] before everything
/// that was appended would survive a power cut.
pub(super) trait Medium: Debug + Send + Sync {
    /// The file, for locking and reading.
    fn file(&self) -> &Arc<File>;
    /// Appends bytes at the end of the file, and returns where they end.
    fn append(&self, bytes: &[u8]) -> io::Result<u64>;
    /// Waits until the file's content is on disk.
    fn sync(&self) -> io::Result<()>;
    /// Waits until the file's name is on disk.
    fn sync_folder(&self) -> io::Result<()>;
}

/// The medium that writes to the real disk.
#[derive(Debug)]
pub(super) struct DiskMedium {
    path: PathBuf,
    file: Arc<File>,
}

impl DiskMedium {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: Arc::new(private::open_to_append(path)?),
        })
    }
}

impl Medium for DiskMedium {
    fn file(&self) -> &Arc<File> {
        &self.file
    }

    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let mut file: &File = &self.file;
        file.write_all(bytes)?;
        // In append mode a write leaves the position at the end of the written bytes. That is exact even if a program
        // that does not take the lock has just written before us.
        file.stream_position()
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_folder(&self) -> io::Result<()> {
        private::sync_folder_of(&self.path)
    }
}

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
    /// Appends bytes at the end of the file, and returns where they end. If not all of them can be written, none stay, as
    /// far as that is possible.
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
        let mut rest = bytes;
        let mut written: Option<WrittenPart> = None;
        while !rest.is_empty() {
            let error = match file.write(rest) {
                Ok(0) => io::ErrorKind::WriteZero.into(),
                Ok(count) => {
                    // In append mode a write leaves the position at the end of the written bytes. That is exact even if a
                    // program that does not take the lock has just written before us.
                    let end = file.stream_position()?;
                    written = Some(WrittenPart::with(written, end, count as u64));
                    rest = rest.get(count..).unwrap_or_default();
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            if let Some(written) = written {
                written.take_back(file);
            }
            return Err(error);
        }
        file.stream_position()
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_folder(&self) -> io::Result<()> {
        private::sync_folder_of(&self.path)
    }
}

/// The part of an append that was written before it failed.
#[derive(Debug, Clone, Copy)]
struct WrittenPart {
    start: u64,
    end: u64,
    /// Whether nobody else wrote in between.
    is_whole: bool,
}

impl WrittenPart {
    fn with(before: Option<Self>, end: u64, count: u64) -> Self {
        let start = end.saturating_sub(count);
        match before {
            None => Self {
                start,
                end,
                is_whole: true,
            },
            Some(before) => Self {
                start: before.start,
                end,
                is_whole: before.is_whole && before.end == start,
            },
        }
    }

    /// Leaves the file as it was, so that half of a compaction does not stay: only our own bytes are taken back, and only
    /// if they are the last. Where that fails, they stay alone on their line.
    fn take_back(self, file: &File) {
        let is_last = file.metadata().is_ok_and(|file| file.len() == self.end);
        if self.is_whole && is_last {
            let _ = file.set_len(self.start);
        }
    }
}

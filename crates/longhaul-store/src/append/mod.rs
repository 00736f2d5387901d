//! Appending entries so that an acknowledged one is never lost (Y7), two processes never mix their lines, and no
//! parent dangles (Y8).
//!
//! The steps, in order: lock the file; check that it is still the one at this path; check that every line is an intact
//! entry whose parent is in the file; if the file does not end in a newline (a crash tore its last line), begin with
//! one, so that the torn line stays alone; write all lines with one write in append mode; wait for the disk
//! ([`Durability`]); unlock; acknowledge by returning [`AppendReceipt`]. On any error nothing is acknowledged.
//!
//! Nothing is rewritten, and nothing of others is removed: a program that does not take the lock may have appended after
//! us. Only what we have just written ourselves is taken back, if the disk refuses the rest and nobody has written since. Reading lives in [`lines`](crate::lines), [`tail`](crate::tail) and
//! [`load`](mod@crate::load).

mod error;
mod lineage;
mod lock;
mod medium;
#[cfg(test)]
mod order;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use error::{AppendError, ParentLink};

use crate::identity;
use crate::load::LoadedTranscript;
use crate::tail::is_torn;
use lineage::{EntryLinks, Lineage};
use lock::TranscriptLock;
use medium::{DiskMedium, Medium};

/// A larger buffer is not kept, so that one very long entry does not hold its memory for the rest of the session.
const KEPT_BUFFER: usize = 1 << 20;

/// When an entry counts as safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// Every append waits for the disk (`fdatasync`) before it is acknowledged, so the entry survives a power cut.
    #[default]
    EveryAppend,
    /// Only [`TranscriptWriter::sync`], [`TranscriptWriter::close`] and dropping the writer wait for the disk. An
    /// acknowledged entry survives the death of the process, but not a power cut.
    OnClose,
}

/// The acknowledgement that the lines are in the file, as safe as the writer's [`Durability`] says.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendReceipt {
    /// Where the first line begins in the file.
    pub offset: u64,
    /// How many lines were appended.
    pub lines: usize,
    /// The size of the lines, line ends included.
    pub bytes: u64,
}

/// Appends to one transcript. Several writers, in one or more processes, may have the same file open.
#[derive(Debug)]
pub struct TranscriptWriter {
    path: PathBuf,
    medium: Box<dyn Medium>,
    durability: Durability,
    patience: Duration,
    lineage: Lineage,
    buffer: Vec<u8>,
    owed: UnsyncedWrites,
}

/// What has been written but not yet synced.
#[derive(Debug, Clone, Copy)]
struct UnsyncedWrites {
    data: bool,
    /// Whether the file's name in its folder still needs a sync. Every writer does this once, because the process that
    /// created the file may have died before.
    name: bool,
}

impl TranscriptWriter {
    /// How long an append waits while another process appends.
    pub const PATIENCE: Duration = Duration::from_secs(10);

    /// Opens a transcript, or creates an empty one. The file is private to its user (0600), and so are new folders
    /// (0700).
    ///
    /// # Errors
    /// Fails if the file cannot be opened or created.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, AppendError> {
        let medium = DiskMedium::open(path).map_err(AppendError::not_opened(path))?;
        Self::over(path, Box::new(medium), durability)
    }

    fn over(
        path: &Path,
        medium: Box<dyn Medium>,
        durability: Durability,
    ) -> Result<Self, AppendError> {
        let metadata = medium.file().metadata();
        let size = metadata.map_err(AppendError::not_opened(path))?;
        Ok(Self {
            path: path.to_owned(),
            medium,
            durability,
            patience: Self::PATIENCE,
            lineage: Lineage::unknown(size.len()),
            buffer: Vec::new(),
            owed: UnsyncedWrites {
                data: false,
                name: true,
            },
        })
    }

    /// Sets how long to wait for the lock, instead of [`Self::PATIENCE`].
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Tells the writer which entries have been read from this same file, so that it need not search for parents again
    /// and refuses every uuid that was in it.
    #[must_use]
    pub fn knowing(mut self, loaded: &LoadedTranscript) -> Self {
        self.lineage.learn(loaded);
        self
    }

    /// The path of the transcript.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one entry, given as a line without its line end.
    ///
    /// # Errors
    /// Fails like [`TranscriptWriter::append_all`].
    pub fn append(&mut self, line: &[u8]) -> Result<AppendReceipt, AppendError> {
        self.append_all(&[line])
    }

    /// Appends entries as one unit: they are acknowledged together, with no other process's line between them.
    ///
    /// After [`AppendError::NotWritten`] or [`AppendError::NotSynced`] the same entries may be appended again; entries
    /// that did reach the file are then in it twice, which readers report and survive (the first counts).
    ///
    /// # Errors
    /// Fails if a line is not an entry, names a parent that is not in the file or a uuid that is; if another process
    /// holds the file for too long or has replaced it; and if the disk refuses. Nothing is acknowledged then, and the
    /// error says what to do.
    pub fn append_all<L: AsRef<[u8]>>(
        &mut self,
        lines: &[L],
    ) -> Result<AppendReceipt, AppendError> {
        let _span =
            tracing::debug_span!("append_all", path = %self.path.display(), lines = lines.len())
                .entered();
        let kin = self.lineage.read(lines)?;
        let locked = TranscriptLock::wait(self.medium.file(), &self.path, self.patience)?;
        let size = self.check(&kin, lines)?;
        let fresh = self
            .put_together(lines, size)
            .map_err(AppendError::unreadable(&self.path))?;
        if lines.is_empty() {
            return Ok(AppendReceipt {
                offset: size,
                lines: 0,
                bytes: 0,
            });
        }
        let end = self
            .write_and_wait()
            .inspect_err(|_| self.lineage.disown(&kin))?;
        self.lineage.adopt(&kin);
        if end == size + self.buffer.len() as u64 {
            self.lineage.seen(end);
        }
        drop(locked);
        tracing::debug!(end, bytes = fresh, "appended");
        Ok(AppendReceipt {
            offset: end.saturating_sub(fresh),
            lines: lines.len(),
            bytes: fresh,
        })
    }

    /// Writes the buffer, and syncs it if the durability requires that. Returns the new end of the file.
    fn write_and_wait(&mut self) -> Result<u64, AppendError> {
        let written = self.medium.append(&self.buffer);
        let end = written.map_err(AppendError::not_written(&self.path))?;
        self.owed.data = true;
        if self.durability == Durability::EveryAppend {
            self.sync()?;
        }
        Ok(end)
    }

    /// Waits until everything that was appended is on disk.
    ///
    /// # Errors
    /// Fails if the disk refuses. What was appended since the last success may not be on disk.
    pub fn sync(&mut self) -> Result<(), AppendError> {
        let not_synced = AppendError::not_synced(&self.path);
        if self.owed.data {
            self.medium.sync().map_err(&not_synced)?;
            self.owed.data = false;
        }
        if self.owed.name {
            self.medium.sync_folder().map_err(&not_synced)?;
            self.owed.name = false;
        }
        Ok(())
    }

    /// Waits until everything that was appended is on disk, and closes the file.
    ///
    /// # Errors
    /// Fails like [`TranscriptWriter::sync`].
    pub fn close(mut self) -> Result<(), AppendError> {
        self.sync()
    }

    /// Checks whether these entries may be appended to the file as it is now, and returns its size. The file must be
    /// locked.
    fn check<L: AsRef<[u8]>>(
        &mut self,
        kin: &[EntryLinks],
        lines: &[L],
    ) -> Result<u64, AppendError> {
        let unreadable = AppendError::unreadable(&self.path);
        let file: &File = self.medium.file();
        if !identity::still_names(&self.path, file).map_err(&unreadable)? {
            return Err(AppendError::Moved {
                path: self.path.clone(),
            });
        }
        let size = file.metadata().map_err(&unreadable)?.len();
        self.lineage.catch_up(file, size).map_err(&unreadable)?;
        self.lineage.admit(&self.path, file, kin, lines)?;
        Ok(size)
    }

    /// Fills the buffer with the bytes to write, and returns the size of the lines in it.
    fn put_together<L: AsRef<[u8]>>(&mut self, lines: &[L], size: u64) -> io::Result<u64> {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_BUFFER);
        if is_torn(self.medium.file(), size)? {
            tracing::debug!(size, "the file does not end in a newline: one is added");
            self.buffer.push(b'\n');
        }
        let before = self.buffer.len();
        for line in lines {
            self.buffer.extend_from_slice(line.as_ref());
            self.buffer.push(b'\n');
        }
        Ok((self.buffer.len() - before) as u64)
    }
}

impl Drop for TranscriptWriter {
    fn drop(&mut self) {
        if self.owed.data
            && let Err(error) = self.sync()
        {
            tracing::warn!(%error, "closing a transcript");
        }
    }
}

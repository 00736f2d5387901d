//! The notes as a run changes them: a text in memory, and the edits since it was last the text on disk.
//!
//! If somebody else changes the file meanwhile, the edits are repeated on the new text, so that those changes stay.

use longhaul_core::notes::SessionNotes;
use longhaul_store::{NotesError, NotesLock};

/// How often somebody else's changes are adopted before the run gives up.
const ATTEMPTS: usize = 3;

/// Notes that are being changed.
pub(super) struct NotesDraft<'a> {
    lock: &'a NotesLock,
    /// The text on disk, as far as we know.
    on_disk: SessionNotes,
    now: SessionNotes,
}

/// Why notes were not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotesWriteError {
    #[error(transparent)]
    Notes(#[from] NotesError),
    /// The file is gone.
    #[error("the notes were deleted while they were being brought up to date")]
    Deleted,
    /// The edits cannot be repeated on the text that is on disk now.
    #[error(
        "the notes were changed by somebody else while they were being brought up to date, in the same places"
    )]
    Conflict,
}

impl<'a> NotesDraft<'a> {
    pub(super) fn new(lock: &'a NotesLock, on_disk: SessionNotes) -> Self {
        Self {
            lock,
            now: on_disk.clone(),
            on_disk,
        }
    }

    /// The notes with all edits.
    pub(super) fn now(&self) -> &SessionNotes {
        &self.now
    }

    /// Replaces the notes.
    pub(super) fn set(&mut self, notes: SessionNotes) {
        self.now = notes;
    }

    /// Writes the notes. `again` repeats on another text the edits since the last write.
    pub(super) fn write(
        &mut self,
        again: impl Fn(&SessionNotes) -> Option<SessionNotes>,
    ) -> Result<(), NotesWriteError> {
        for _ in 0..ATTEMPTS {
            if self.now == self.on_disk {
                return Ok(());
            }
            match self
                .lock
                .replace(Some(self.on_disk.text()), self.now.text())
            {
                Ok(()) => {
                    self.on_disk = self.now.clone();
                    return Ok(());
                }
                Err(NotesError::Changed { .. }) => {
                    let theirs = self.lock.notes()?.ok_or(NotesWriteError::Deleted)?;
                    self.on_disk = SessionNotes::parse(theirs);
                    self.now = again(&self.on_disk).ok_or(NotesWriteError::Conflict)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(NotesWriteError::Conflict)
    }
}

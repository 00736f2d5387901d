//! The notes as a run changes them: a text in memory, and what was done to it since it was last the text on disk.
//!
//! If somebody else changes the file meanwhile, what was done is done once more to their text, so that theirs stays.

use longhaul_core::notes::SessionNotes;
use longhaul_store::{NotesError, NotesLock};

/// How often somebody else's changes are taken up before it is given up.
const ATTEMPTS: usize = 3;

/// Notes under way.
pub(super) struct NotesDraft<'a> {
    lock: &'a NotesLock,
    /// What stands on disk, as far as we know.
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
    /// What was done cannot be done to what stands there now.
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

    /// The notes with all that was done.
    pub(super) fn now(&self) -> &SessionNotes {
        &self.now
    }

    /// The notes are these now.
    pub(super) fn set(&mut self, notes: SessionNotes) {
        self.now = notes;
    }

    /// Writes them. `again` does to another text what was done since they were last written.
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

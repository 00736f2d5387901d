//! A conversation that can be compacted and inspected, and takes no turns: it has no prompt to continue with, and
//! usually no place to write replies to.

use std::path::PathBuf;

use jiff::Timestamp;
use longhaul_core::engine::{CompactRequest, Engine};
use longhaul_core::window::WindowStatus;
use longhaul_provider::CancellationToken;

use crate::session::{CompactError, CompactOutcome, Session};

/// An open recorded conversation. Unlike a [`Session`] it cannot add messages or take turns.
pub struct RecordedSession(Session);

impl RecordedSession {
    pub(super) fn of(session: Session) -> Self {
        Self(session)
    }

    /// Compacts the conversation.
    ///
    /// # Errors
    /// Fails if there is nothing to compact, if no summary can be had, and if it cannot be written. The conversation is
    /// then as it was.
    pub async fn compact(
        &mut self,
        request: CompactRequest,
    ) -> Result<CompactOutcome, CompactError> {
        self.0.compact(request).await
    }

    /// Ends the current compaction, or the next one before it begins, when the token is cancelled.
    pub fn canceller(&self) -> CancellationToken {
        self.0.canceller()
    }

    /// Records that a file was read in another way than by a call of `Read`: it may be restored to the window.
    pub fn note_read(&mut self, path: PathBuf, at: Timestamp) {
        self.0.engine_mut().read_files_mut().read(path, at);
    }

    /// The current state of the window.
    pub fn status(&self) -> WindowStatus {
        self.0.status()
    }

    /// The engine: the conversation, its facts, its rendering.
    pub fn engine(&self) -> &Engine {
        self.0.engine()
    }
}

//! Tells others which session an agent works on, for state that is kept beside the session.

use std::path::Path;

/// Hears when an agent opens a session and when it comes to rest.
///
/// Both are called between two requests, and the agent waits for them: an implementation returns soon, and deals with
/// its own errors. The folder is the session's own, beside its transcript; it exists once something was said.
pub trait SessionListener: Send + Sync {
    /// A session is open, and nothing was asked yet.
    fn opened(&self, folder: &Path);

    /// A prompt was answered, a compaction has ended, or the session is being closed.
    fn rested(&self, folder: &Path);
}

//! Session notes are taken (S2–S5): behind an answer, when they are due, by asking behind the client's own messages, so that
//! nearly all of it is read from the cache. The answer is text, and the core's guard decides what of it is taken in.
//!
//! `desk` knows which line has notes and when they are due, `take` asks for them. They are kept by the history that they
//! cover. What they are good for when the window is full is `noted`'s to say.

mod take;
mod tracker;

pub(super) use tracker::NotesTracker;

/// Whether session notes are taken and used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NotesMode {
    /// They are not: summaries that are made ahead cost less.
    #[default]
    Off,
    /// They are, and stand for older turns without asking for a summary.
    On,
}

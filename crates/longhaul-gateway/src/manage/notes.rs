//! Takes session notes (S2–S5): after a response, when they are due, by a request appended to the client's own
//! messages, so that nearly all of it is read from the cache. The reply is text, and the core's guard decides which of
//! it is accepted.
//!
//! `tracker` knows which branch has notes and when they are due, `take` requests them. They are stored by the history
//! that they cover. `notes_summary` uses them when the window is full.

mod take;
mod tracker;

pub(super) use tracker::NotesTracker;

/// Whether session notes are taken and used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NotesMode {
    /// Notes are disabled: summaries that are made ahead cost less.
    #[default]
    Off,
    /// Notes are taken, and replace older turns without requesting a summary.
    On,
}

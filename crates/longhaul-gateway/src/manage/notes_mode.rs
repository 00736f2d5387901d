//! Whether a gateway takes and uses session notes.

/// Whether session notes are taken and used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NotesMode {
    /// Notes are disabled: summaries that are made ahead cost less.
    #[default]
    Off,
    /// Notes are taken, and replace older turns without requesting a summary.
    On,
}

//! What became of a file that was replaced (`replace`).

/// The outcome of a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceOutcome {
    /// The file is new.
    New,
    /// The file existed before.
    Changed,
}

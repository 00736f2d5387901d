//! Who wrote the replacement of a history.

/// Who wrote the replacement of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryAuthor {
    /// A model.
    Model,
    /// The session's notes.
    Notes,
    /// Extracts, without a model.
    Extracts,
}

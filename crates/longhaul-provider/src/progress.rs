//! How far a stream has come.

/// How far a stream has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamProgress {
    /// More is to come.
    Open,
    /// The model has stopped; only the closing event is missing.
    Stopped,
    /// The closing event came.
    Closed,
}

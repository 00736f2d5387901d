//! Why a value cannot be sent: the only answer is that it does not fit.

/// A value that the API would refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShapeMismatch;

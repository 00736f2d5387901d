//! The number of a call that was announced to the detector. Later calls have greater ones.

/// Identifies a call that was announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchedCallId(pub(super) u64);

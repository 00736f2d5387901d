//! What the detector says about the cache in one call. The words of a finding are in `finding`.

use super::finding::CacheFinding;

/// The verdict on the cache in one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheVerdict {
    /// There is nothing to compare the call with: it is the first of its conversation, or the first after a compaction.
    First,
    /// As much was read as could be expected.
    Steady,
    /// Less was read because something was deleted from the cache on purpose.
    Expected {
        /// How many tokens fewer were read.
        lost: u64,
    },
    /// No less was read than before, but the part that the last call wrote was not read.
    Unread(Box<CacheFinding>),
    /// Clearly less was read than before.
    Broke(Box<CacheFinding>),
    /// The call is not judged: an excluded model, a reply without usage, an unknown call.
    Ignored,
}

impl CacheVerdict {
    /// The finding, if there is one.
    pub fn finding(&self) -> Option<&CacheFinding> {
        match self {
            Self::Unread(finding) | Self::Broke(finding) => Some(finding),
            _ => None,
        }
    }
}

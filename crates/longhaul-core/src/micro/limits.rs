//! When results are cleared and how many stay (U3, U4): what of it a user may set.

use jiff::SignedDuration;

/// The limits of clearing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MicroLimits {
    /// The newest results that stay, after an idle gap and when results are deleted from the cache.
    pub keep_recent: u64,
    /// With so many active results the oldest are deleted from the cache.
    pub trigger: u64,
    /// After a gap longer than this the cache is cold, and results are cleared.
    pub idle_minutes: u64,
}

impl Default for MicroLimits {
    fn default() -> Self {
        Self {
            keep_recent: 5,
            trigger: 12,
            idle_minutes: 60,
        }
    }
}

impl MicroLimits {
    /// The newest results that stay.
    pub(super) fn kept(&self) -> usize {
        usize::try_from(self.keep_recent).unwrap_or(usize::MAX)
    }

    /// With so many results something is deleted. Fewer than one more than stay would delete nothing.
    pub(super) fn from(&self) -> usize {
        let trigger = usize::try_from(self.trigger).unwrap_or(usize::MAX);
        trigger.max(self.kept().saturating_add(1))
    }

    /// The gap.
    pub(super) fn idle(&self) -> SignedDuration {
        // Longer than any session lasts.
        const MOST: u64 = 60 * 24 * 365 * 100;
        let minutes = i64::try_from(self.idle_minutes.min(MOST));
        SignedDuration::from_mins(minutes.unwrap_or(i64::MAX / 60))
    }
}

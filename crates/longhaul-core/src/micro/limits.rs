//! The user's settings for when results are cleared and how many stay (U3, U4).

use jiff::SignedDuration;

/// The limits of clearing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MicroLimits {
    /// The number of newest results that stay, after an idle gap and when results are deleted from the cache.
    pub keep_recent: u64,
    /// The number of active results from which the oldest are deleted from the cache.
    pub trigger: u64,
    /// The gap in minutes after which the cache is cold and results are cleared.
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
    /// The number of newest results that stay.
    pub(super) fn kept(&self) -> usize {
        usize::try_from(self.keep_recent).unwrap_or(usize::MAX)
    }

    /// The number of results from which some are deleted. It is at least one more than stay, since fewer would delete
    /// nothing.
    pub(super) fn from(&self) -> usize {
        let trigger = usize::try_from(self.trigger).unwrap_or(usize::MAX);
        trigger.max(self.kept().saturating_add(1))
    }

    /// The idle gap as a duration.
    pub(super) fn idle(&self) -> SignedDuration {
        // This is longer than any session lasts.
        const MOST: u64 = 60 * 24 * 365 * 100;
        let minutes = i64::try_from(self.idle_minutes.min(MOST));
        SignedDuration::from_mins(minutes.unwrap_or(i64::MAX / 60))
    }
}

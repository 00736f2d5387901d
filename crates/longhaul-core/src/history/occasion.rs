//! Why a history is to become smaller, and how small a request that does not fit must become.

use crate::plan::least_freed;
use crate::window::WindowStatus;

/// Why a history is to become smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOccasion {
    /// The window will be full soon; nobody waits.
    Ahead,
    /// A summary pays (V3), although the window has room; nobody waits.
    Price,
    /// The conversation was idle for long, and a request waits.
    Idle,
    /// The window is full, and a request waits.
    Full(OversizedRequest),
}

/// The known facts about a request that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OversizedRequest {
    /// Whether the provider has refused it, or it is only expected not to fit.
    pub refused: OverflowEvidence,
    /// How often a smaller request was tried without success.
    pub tries: u32,
    /// The provider's window, where that is smaller than the known one.
    pub limit: Option<u64>,
}

impl OversizedRequest {
    /// The most tokens that may be left of a window with `before` tokens: less with each attempt that was still too
    /// long, and few enough to be worth it.
    pub fn most_left(&self, window: &WindowStatus, before: u64) -> u64 {
        let worth = before.saturating_sub(least_freed(window));
        // The same share of the window, whatever its size.
        let limit = self.limit.map_or(u64::MAX, |limit| {
            let share = u128::from(limit) * u128::from(window.auto_compact);
            u64::try_from(share / u128::from(window.size.max(1))).unwrap_or(u64::MAX)
        });
        let most = window.auto_compact.min(worth).min(limit);
        most.checked_shr(self.tries).unwrap_or(1).max(1)
    }
}

/// The evidence that a request does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverflowEvidence {
    /// Our own estimate says so.
    Expected,
    /// The provider has refused the request, against our estimate.
    ByProvider,
}

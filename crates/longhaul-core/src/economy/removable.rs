//! How many results stay whatever they cost (V4): the newest ones, and everything of the last round.

use super::PrefixWarmth;

/// The newest results that stay while the cache is hot.
pub const KEPT_HOT: usize = 3;
/// The newest results that stay where the conversation is rendered anew on a cold cache.
pub const KEPT_COLD: usize = 5;

/// Returns how many of the oldest results may go, of `active` results of which `unsent` came since the last request.
pub(super) fn removable(active: usize, unsent: usize, warmth: PrefixWarmth) -> usize {
    let kept = match warmth {
        PrefixWarmth::Hot | PrefixWarmth::Uncached => KEPT_HOT,
        PrefixWarmth::Cold => KEPT_COLD,
    };
    active.saturating_sub(kept.max(unsent))
}

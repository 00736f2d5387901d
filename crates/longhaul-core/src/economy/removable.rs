//! How many results stay whatever they cost (V4): the newest ones, and everything of the last round.

use super::PrefixWarmth;

/// The newest results that stay while the cache is hot.
pub const KEPT_HOT: usize = 3;
/// The newest results that stay where the conversation is rendered anew on a cold cache.
pub const KEPT_COLD: usize = 5;

/// What stays of a result that was cleared, in tokens: its frame and the marker.
pub const CLEARED_RESULT: u64 = 60;

/// The newest tokens of a view that an action decided by price leaves word for word, in a large window (V5).
pub const VERBATIM_TOKENS: u64 = 10_000;
/// The most tokens of the user's messages that a summary repeats word for word, in a large window.
pub const VERBATIM_PROMPTS: u64 = 20_000;

/// Returns how many of the oldest results may go, of `active` results of which `unsent` came since the last request.
pub(super) fn removable(active: usize, unsent: usize, warmth: PrefixWarmth) -> usize {
    let kept = match warmth {
        PrefixWarmth::Hot | PrefixWarmth::Uncached => KEPT_HOT,
        PrefixWarmth::Cold => KEPT_COLD,
    };
    active.saturating_sub(kept.max(unsent))
}

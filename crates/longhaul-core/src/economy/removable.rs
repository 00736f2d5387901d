//! How many results stay whatever they cost (V4): the newest ones, and everything of the last round.

use super::PrefixWarmth;

/// The newest results that stay while the cache is hot.
pub(crate) const KEPT_HOT: usize = 3;
/// The newest results that stay where the conversation is rendered anew on a cold cache.
pub(crate) const KEPT_COLD: usize = 5;

/// What stays of a result that was cleared, in tokens: its frame and the marker.
pub const CLEARED_RESULT: u64 = 60;

/// The newest tokens of a view that an action decided by price leaves word for word, in a large window (V5).
pub const VERBATIM_TOKENS: u64 = 10_000;
/// The most tokens of the user's messages that a summary repeats word for word, in a large window.
pub(crate) const VERBATIM_PROMPTS: u64 = 20_000;

/// The largest file that a summary decided by price restores, in tokens of a large window. A restored file is written
/// once and read with every request until the next summary, some forty times: about 16 times the price of an input
/// token in a hundred, where reading the file again costs one more request with the view that the summary leaves. In a
/// view of 45,000 tokens the two are equal at about this size, if every second restored file is needed again. The summary
/// names all files, so the model knows what it can read.
pub const RESTORED_FILE: u64 = 1_000;

/// Returns what clearing a result of this size frees. One that is hardly larger than the marker is not cleared (V4): it
/// frees nothing, but counts among the newest results.
pub fn freed_by_clearing(tokens: u64) -> u64 {
    let freed = tokens.saturating_sub(CLEARED_RESULT);
    if freed < CLEARED_RESULT { 0 } else { freed }
}

/// Returns how many of the oldest results may go, of `active` results of which `unsent` came since the last request.
pub(super) fn removable(active: usize, unsent: usize, warmth: PrefixWarmth) -> usize {
    let kept = match warmth {
        PrefixWarmth::Hot | PrefixWarmth::Uncached => KEPT_HOT,
        PrefixWarmth::Cold => KEPT_COLD,
    };
    active.saturating_sub(kept.max(unsent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v4_a_result_that_is_hardly_larger_than_the_marker_frees_nothing() {
        let sizes = [0, 60, 119, 120, 1_000];
        assert_eq!(sizes.map(freed_by_clearing), [0, 0, 0, 60, 940]);
    }
}

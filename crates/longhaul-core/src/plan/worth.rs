//! Decides whether shrinking a conversation is worth its price (Y1). The kept part has to be written to the cache
//! again, and a summary has to be paid for. If a threshold asks for a compaction that gains little, the next turn would
//! ask again.

use crate::window::WindowStatus;

/// The minimum share of the window that must be freed, in percent.
const LEAST_PERCENT: u64 = 10;
/// After a failure nothing is made ahead until the window has grown by this share of the threshold, in percent.
const REST_PERCENT: u64 = 5;

/// Returns the minimum number of tokens that a compaction must free if a threshold asks for it.
pub fn least_freed(window: &WindowStatus) -> u64 {
    window.size / 100 * LEAST_PERCENT
}

/// Returns by how many tokens the window must grow after a failure before anything is made ahead again.
pub(crate) fn rest_after_failure(window: &WindowStatus) -> u64 {
    window.auto_compact / 100 * REST_PERCENT
}

/// Whether a compaction frees enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionWorth {
    /// The compaction frees enough.
    Enough,
    /// The compaction frees so little that it is not made, unless nothing else is left.
    TooLittle,
}

/// Judges a compaction by the tokens in the window before and after it.
pub fn worth(window: &WindowStatus, before: u64, after: u64) -> CompactionWorth {
    if before.saturating_sub(after) >= least_freed(window) {
        CompactionWorth::Enough
    } else {
        CompactionWorth::TooLittle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{WindowInput, WindowSettings};

    #[test]
    fn y1_a_compaction_is_worth_a_tenth_of_the_window() {
        let window = WindowStatus::new(&WindowInput {
            window: 100_000,
            max_output: 64_000,
            used: 0,
            settings: WindowSettings::default(),
        });
        let window = window.unwrap();
        assert_eq!(worth(&window, 67_000, 57_000), CompactionWorth::Enough);
        assert_eq!(worth(&window, 67_000, 57_001), CompactionWorth::TooLittle);
        assert_eq!(worth(&window, 67_000, 80_000), CompactionWorth::TooLittle);
    }
}

//! Whether making a conversation smaller is worth its price (Y1). What is kept has to be written to the cache anew, and a
//! summary has to be paid for: where a threshold asks for it and little would be gained, the next turn would ask again.

use crate::window::WindowStatus;

/// The least share of the window that is to be freed, in percent.
const LEAST_PERCENT: u64 = 10;

/// The fewest tokens that a compaction is to free where a threshold asks for it.
pub fn least_freed(window: &WindowStatus) -> u64 {
    window.size / 100 * LEAST_PERCENT
}

/// What a compaction would bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionWorth {
    /// Enough room.
    Enough,
    /// So little that it is not made, unless nothing else is left.
    TooLittle,
}

/// Judges a compaction by the tokens in the window before it and after it.
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

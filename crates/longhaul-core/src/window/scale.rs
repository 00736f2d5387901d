//! Small windows (H7): below 100K every reserve, margin and budget shrinks with the window.

use crate::figures::grouped;

/// The window size from which amounts are not scaled.
const FULL: u64 = 100_000;

/// The smallest usable window.
pub(super) const SMALLEST: u64 = 4_000;

/// How far amounts shrink in a window. Every budget of U, F, R, S and X1 uses it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowScale(u64);

impl WindowScale {
    /// Returns the scale of a window of this size (after a cap).
    pub fn of_window(size: u64) -> WindowScale {
        WindowScale(size.min(FULL))
    }

    /// Returns an amount at this scale, rounded down.
    pub fn apply(self, amount: u64) -> u64 {
        let scaled = u128::from(amount) * u128::from(self.0) / u128::from(FULL);
        u64::try_from(scaled).unwrap_or(amount)
    }
}

/// Why a window cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// The model's window is too small.
    #[error(
        "a context window of {} tokens is too small to work in: at least {} are needed",
        grouped(*.size), grouped(SMALLEST)
    )]
    TooSmall {
        /// The size of the window in tokens.
        size: u64,
    },
    /// The window was capped too low.
    #[error(
        "the window is capped at {} tokens, which is too small to work in: at least {} are needed",
        grouped(*.cap), grouped(SMALLEST)
    )]
    CappedTooSmall {
        /// The cap in tokens.
        cap: u64,
    },
}

//! A percentage in (0, 100], kept as whole millionths so that 70% of 180,000 is 126,000 and not one less.

use std::fmt;

/// Millionths of a percent in a hundred percent.
const WHOLE: u32 = 100_000_000;

/// A percentage that is more than zero and at most a hundred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(u32);

impl Percent {
    /// Creates a percentage; `None` unless it is in (0, 100].
    pub fn new(percent: f64) -> Option<Percent> {
        let in_range = percent > 0.0 && percent <= 100.0;
        in_range.then(|| Percent(((percent * 1e6).round() as u32).max(1)))
    }

    /// Returns this share of an amount, rounded down.
    pub fn of(self, amount: u64) -> u64 {
        let share = u128::from(amount) * u128::from(self.0) / u128::from(WHOLE);
        u64::try_from(share).unwrap_or(amount)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 1e6)
    }
}

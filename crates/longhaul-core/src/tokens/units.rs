//! Token counts by origin: estimated by us, measured by the provider.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// A rough count, before padding. Sums of estimates are padded once, when they are compared with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Estimate(u64);

impl Estimate {
    /// Zero tokens.
    pub const ZERO: Self = Self(0);

    /// An estimate of this many tokens.
    pub const fn new(tokens: u64) -> Self {
        Self(tokens)
    }

    /// Returns this estimate without a part of it.
    pub(crate) const fn less(self, part: Self) -> Self {
        Self(self.0.saturating_sub(part.0))
    }

    /// The tokens, not padded: for shares and savings.
    pub const fn unpadded(self) -> u64 {
        self.0
    }

    /// The tokens padded by a third and rounded up (T2): for anything compared with a limit, since an estimate that
    /// is too low overflows the window and one that is too high only compacts early.
    pub const fn padded(self) -> u64 {
        (self.0 * 4).div_ceil(3)
    }
}

impl Add for Estimate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Estimate {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sum for Estimate {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

/// A count the provider reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct MeasuredTokens(u64);

impl MeasuredTokens {
    /// A measurement of this many tokens.
    pub const fn new(tokens: u64) -> Self {
        Self(tokens)
    }

    /// The tokens.
    pub const fn tokens(self) -> u64 {
        self.0
    }
}

/// How much is in the window (T1): a measurement, and what has changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextSize {
    /// What the newest usable reply measured; zero if there is none in view.
    pub measured: MeasuredTokens,
    /// What came after it.
    pub added: Estimate,
    /// What was cleared after it, of what it had measured.
    pub cleared: Estimate,
}

impl ContextSize {
    /// The estimated change since the measurement: additions padded, clearings not, so that neither is flattered.
    pub fn estimated(self) -> i64 {
        self.added.padded() as i64 - self.cleared.unpadded() as i64
    }

    /// Tokens in the window.
    pub fn tokens(self) -> u64 {
        self.measured
            .tokens()
            .saturating_add_signed(self.estimated())
    }
}

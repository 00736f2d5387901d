//! Exact amounts of money in whole picodollars, so that sums of a million tiny prices are right to the last digit.
//!
//! A price of one cent per million tokens is 10,000 picodollars per token, so every published price is a whole number
//! here. `models/` holds the prices of each model.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use serde::{Serialize, Serializer};

/// Picodollars in a dollar.
const DOLLAR: i128 = 1_000_000_000_000;

/// An amount of US dollars. Negative amounts are savings.
///
/// ```
/// use longhaul_core::message::Usage;
/// use longhaul_core::models::ModelTable;
/// use longhaul_core::money::Usd;
///
/// let model = ModelTable::builtin().resolve("claude-sonnet-4-6").spec;
/// let usage = Usage { input: 1_000_000, ..Usage::default() };
/// let cost = model.cost_of_reply(&usage).unwrap_or_default();
/// assert!(cost > Usd::ZERO);
/// assert_eq!(cost + cost - cost, cost, "amounts are exact");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Usd(i128);

impl Usd {
    /// Zero dollars.
    pub const ZERO: Usd = Usd(0);

    /// An amount in picodollars (10⁻¹² dollars).
    pub const fn from_pico(pico: i128) -> Usd {
        Usd(pico)
    }

    /// The amount in picodollars.
    pub const fn pico(self) -> i128 {
        self.0
    }

    /// The amount in dollars, for reports that hold plain numbers.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / DOLLAR as f64
    }

    /// The nearest amount to a number of dollars, as reports hold it.
    pub fn from_f64(dollars: f64) -> Usd {
        Usd((dollars * DOLLAR as f64).round() as i128)
    }

    /// This amount times a fraction, rounded half away from zero.
    pub fn times(self, factor: Fraction) -> Usd {
        let (over, under) = (i128::from(factor.over), i128::from(factor.under.max(1)));
        Usd(divide_rounded(self.0.saturating_mul(over), under))
    }
}

/// A discount or surcharge as a fraction, so that it stays exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    /// The numerator.
    pub over: u32,
    /// The denominator.
    pub under: u32,
}

/// The price of one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TokenPrice(u64);

impl TokenPrice {
    /// Creates a price in picodollars per token, which is also the price of a million tokens in millionths of a dollar.
    pub(crate) const fn from_pico_per_token(pico: u64) -> TokenPrice {
        TokenPrice(pico)
    }

    /// Returns the cost of so many tokens.
    pub fn of(self, tokens: u64) -> Usd {
        Usd(i128::from(self.0).saturating_mul(i128::from(tokens)))
    }
}

impl Add for Usd {
    type Output = Usd;

    fn add(self, other: Usd) -> Usd {
        Usd(self.0.saturating_add(other.0))
    }
}

impl Sub for Usd {
    type Output = Usd;

    fn sub(self, other: Usd) -> Usd {
        Usd(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Usd) {
        *self = *self + other;
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Usd>>(amounts: I) -> Usd {
        amounts.fold(Usd::ZERO, Add::add)
    }
}

impl<'a> Sum<&'a Usd> for Usd {
    fn sum<I: Iterator<Item = &'a Usd>>(amounts: I) -> Usd {
        amounts.copied().sum()
    }
}

/// Formats the amount in dollars: with four decimals, with two from a hundred dollars, and below one cent with as many
/// as show two digits.
impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let amount = self.0.unsigned_abs();
        let decimals = decimals_for(amount);
        let unit = 10_u128.pow(12 - decimals);
        let shown = amount.saturating_add(unit / 2) / unit;
        let one = 10_u128.pow(decimals);
        let width = decimals as usize;
        write!(f, "{sign}${}.{:0width$}", shown / one, shown % one)
    }
}

/// Serializes the amount as a number of dollars, as in `cost_usd` fields.
impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

fn decimals_for(pico: u128) -> u32 {
    match pico {
        0 => 2,
        _ if pico >= 100 * DOLLAR.unsigned_abs() => 2,
        _ if pico >= DOLLAR.unsigned_abs() / 100 => 4,
        // Twelve decimals show every picodollar; two digits of the amount are enough.
        _ => (13 - pico.ilog10()).min(12),
    }
}

fn divide_rounded(dividend: i128, divisor: i128) -> i128 {
    let half = divisor / 2;
    if dividend < 0 {
        dividend.saturating_sub(half) / divisor
    } else {
        dividend.saturating_add(half) / divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pico: i128) -> String {
        Usd::from_pico(pico).to_string()
    }

    #[test]
    fn n1_a_cent_for_a_million_tokens_is_a_whole_number_a_token() {
        let rate = TokenPrice::from_pico_per_token(10_000);
        assert_eq!(rate.of(1_000_000), Usd::from_pico(DOLLAR / 100));
    }

    #[test]
    fn sums_are_exact_where_floats_are_not() {
        let tenth = Usd::from_pico(DOLLAR / 10);
        let mut total: Usd = std::iter::repeat_n(tenth, 9).sum();
        total += tenth;
        assert_eq!(total, Usd::from_pico(DOLLAR));
        assert_eq!(total.to_f64(), 1.0);
        assert_eq!((Usd::ZERO - tenth).to_f64(), -0.1);
    }

    #[test]
    fn shows_as_many_digits_as_help() {
        assert_eq!(shown(0), "$0.00");
        assert_eq!(shown(1_234_549_999_999), "$1.2345");
        assert_eq!(shown(1_234_550_000_000), "$1.2346");
        assert_eq!(shown(10_000_000_000), "$0.0100");
        assert_eq!(shown(9_990_000_000), "$0.0100");
        assert_eq!(shown(1_250_000_000), "$0.0013");
        assert_eq!(shown(123_000_000), "$0.00012");
        assert_eq!(shown(7), "$0.000000000007");
        assert_eq!(shown(123_456_000_000_000), "$123.46");
        assert_eq!(shown(-1_500_000_000_000), "-$1.5000");
    }

    #[test]
    fn fractions_round_half_away_from_zero() {
        let half = Fraction { over: 1, under: 2 };
        assert_eq!(Usd::from_pico(3).times(half), Usd::from_pico(2));
        assert_eq!(Usd::from_pico(-3).times(half), Usd::from_pico(-2));
    }

    #[test]
    fn absurd_amounts_stay_at_the_end_of_the_scale_instead_of_wrapping() {
        let most = Usd::from_pico(i128::MAX);
        assert_eq!(most + most, most);
        assert!(most.to_string().starts_with('$'));
    }
}

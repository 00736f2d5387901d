//! Distributes room when not everything fits (ruling 14): the longest items are shortened first; the first request, the
//! newest messages and stated rules are not shortened, unless these alone exceed half the threshold.

use crate::window::WindowStatus;

/// The default budget in tokens.
const TOKENS: u64 = 20_000;
/// A text shortened below this says nothing, so it is left out instead.
const SHORTEST: u64 = 80;

/// How much room the facts may take in a summary message. Sizes are padded estimates (T2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactsBudget {
    /// Tokens for the whole added text.
    pub tokens: u64,
    /// Protected items stay whole as long as they take no more tokens than this.
    pub protected: u64,
}

impl FactsBudget {
    /// The default budget for a window, scaled according to H7.
    pub fn of_window(window: &WindowStatus) -> Self {
        Self::of_tokens(TOKENS, window)
    }

    /// A budget of this many tokens before scaling.
    pub(crate) fn of_tokens(tokens: u64, window: &WindowStatus) -> Self {
        Self {
            tokens: window.scale().apply(tokens),
            protected: window.auto_compact / 2,
        }
    }

    /// The budget for a window in which only `free` tokens are free: at most the default's share of a window without a
    /// request prefix (20,000 of 67,000), at least a quarter of the original budget.
    pub(crate) fn in_free_part(self, free: u64) -> Self {
        let share = (free / 10 * 3).max(self.tokens / 4);
        Self {
            tokens: self.tokens.min(share),
            ..self
        }
    }
}

/// The most UTF-16 units whose padded estimate is within this many tokens.
pub(crate) fn units_within(tokens: u64) -> u64 {
    match tokens * 3 / 4 {
        0 => 0,
        unpadded => unpadded * 4 + 1,
    }
}

/// An item that needs room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetItem {
    /// The item's full size.
    pub units: u64,
    /// Whether the item may be shortened.
    pub standing: ItemProtection,
}

/// Whether an item may be shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemProtection {
    /// The item is the first request, one of the newest messages, or a rule.
    Protected,
    /// The item is anything else.
    Plain,
}

/// The room that an item gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetShare {
    /// The item gets all the room it needs.
    Whole,
    /// The item gets this many units, fewer than it needs.
    Shortened(u64),
    /// The item gets no room.
    Omitted,
}

/// Shares `limit` units among items, given oldest first.
///
/// All items stay whole if they fit. Otherwise the longest plain ones are shortened to one level; if that level is too
/// low to be useful, the oldest are left out. Protected items stay whole, even beyond the limit, unless they exceed
/// `protected_limit`: then they are treated like the rest, and left out last.
pub fn fit(items: &[BudgetItem], limit: u64, protected_limit: u64) -> Vec<BudgetShare> {
    let is_protected = |item: &&BudgetItem| item.standing == ItemProtection::Protected;
    let protected: u64 = items
        .iter()
        .filter(is_protected)
        .map(|item| item.units)
        .sum();
    let mut shares = vec![BudgetShare::Whole; items.len()];
    let keeps_protected = protected <= protected_limit;
    let (limit, mut open): (u64, Vec<usize>) = if keeps_protected {
        (
            limit.saturating_sub(protected),
            (0..items.len())
                .filter(|at| items[*at].standing == ItemProtection::Plain)
                .collect(),
        )
    } else {
        (limit, (0..items.len()).collect())
    };
    let sizes = |open: &[usize]| open.iter().map(|at| items[*at].units).collect::<Vec<_>>();
    if level(&sizes(&open), limit).is_none_or(|level| level >= SHORTEST) {
        share(&mut shares, items, &open, limit);
        return shares;
    }
    // Not even short forms of all items fit: the newest take precedence, and protected items come before them.
    open.sort_by_key(|at| {
        (
            items[*at].standing == ItemProtection::Plain,
            std::cmp::Reverse(*at),
        )
    });
    let mut left = limit;
    let mut kept = Vec::new();
    for at in open {
        let least = items[at].units.min(SHORTEST);
        if least <= left {
            left -= least;
            kept.push(at);
        } else {
            shares[at] = BudgetShare::Omitted;
        }
    }
    share(&mut shares, items, &kept, limit);
    shares
}

/// Shortens the longest of the items in `open` to one level, if they do not fit.
fn share(shares: &mut [BudgetShare], items: &[BudgetItem], open: &[usize], limit: u64) {
    let sizes: Vec<_> = open.iter().map(|at| items[*at].units).collect();
    if let Some(level) = level(&sizes, limit) {
        for at in open.iter().filter(|at| items[**at].units > level) {
            shares[*at] = BudgetShare::Shortened(level);
        }
    }
}

/// The highest level at which the sizes, cut down to it, fit. `None` if they fit unchanged.
fn level(sizes: &[u64], limit: u64) -> Option<u64> {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut left = limit;
    for (at, size) in sorted.iter().enumerate() {
        let sharers = (sorted.len() - at) as u64;
        if size * sharers > left {
            return Some(left / sharers);
        }
        left -= size;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{WindowInput, WindowSettings};
    use proptest::prelude::*;

    fn plain(units: u64) -> BudgetItem {
        let standing = ItemProtection::Plain;
        BudgetItem { units, standing }
    }

    fn protected(units: u64) -> BudgetItem {
        let standing = ItemProtection::Protected;
        BudgetItem { units, standing }
    }

    #[test]
    fn x1_the_longest_are_shortened_first() {
        let items = [plain(100), plain(900), plain(5_000), plain(300)];
        assert_eq!(
            fit(&items, 2_000, 9_999),
            [
                BudgetShare::Whole,
                BudgetShare::Shortened(800),
                BudgetShare::Shortened(800),
                BudgetShare::Whole
            ]
        );
        assert_eq!(fit(&items, 6_300, 9_999), [BudgetShare::Whole; 4]);
    }

    #[test]
    fn x1_what_is_protected_is_whole_unless_it_exceeds_half_the_threshold() {
        let items = [protected(3_000), plain(500), protected(100)];
        let shares = fit(&items, 1_000, 3_100);
        assert_eq!(
            shares,
            [BudgetShare::Whole, BudgetShare::Omitted, BudgetShare::Whole]
        );
        let shares = fit(&items, 1_000, 3_099);
        assert_eq!(
            shares,
            [
                BudgetShare::Shortened(450),
                BudgetShare::Shortened(450),
                BudgetShare::Whole
            ]
        );
    }

    #[test]
    fn x1_of_too_many_the_oldest_are_left_out() {
        let items = [protected(50), plain(70), plain(70), plain(70)];
        assert_eq!(
            fit(&items, 200, 1_000),
            [
                BudgetShare::Whole,
                BudgetShare::Omitted,
                BudgetShare::Whole,
                BudgetShare::Whole
            ]
        );
    }

    #[test]
    fn h7_the_budget_shrinks_with_the_window() {
        let budget = |window| {
            let settings = WindowSettings::default();
            let input = WindowInput {
                window,
                max_output: 32_000,
                used: 0,
                settings,
            };
            FactsBudget::of_window(&WindowStatus::new(&input).unwrap())
        };
        assert_eq!(
            budget(200_000),
            FactsBudget {
                tokens: 20_000,
                protected: 83_500
            }
        );
        assert_eq!(budget(1_000_000).tokens, 20_000);
        assert_eq!(budget(10_000).tokens, 2_000);
    }

    #[test]
    fn t2_units_within_a_number_of_tokens_are_the_most_that_pad_to_it() {
        use crate::tokens::{ContentClass, RoughEstimator};
        for tokens in 0..500 {
            let units = units_within(tokens);
            let padded = |units| RoughEstimator.tokens(ContentClass::Text, units).padded();
            assert!(padded(units) <= tokens, "{tokens}");
            assert!(units == 0 || padded(units + 1) > tokens, "{tokens}");
        }
    }

    proptest! {
        #[test]
        fn x1_shares_stay_within_the_limit_whenever_possible(
            sizes in proptest::collection::vec((0_u64..4_000, any::<bool>()), 0..60),
            limit in 0_u64..60_000,
            protected_limit in 0_u64..60_000,
        ) {
            let items: Vec<_> = sizes.iter()
                .map(|(units, first)| if *first { protected(*units) } else { plain(*units) })
                .collect();
            let shares = fit(&items, limit, protected_limit);
            prop_assert_eq!(&shares, &fit(&items, limit, protected_limit));
            let mut total = 0;
            let mut guarded = 0;
            for (item, share) in items.iter().zip(&shares) {
                let given = match share {
                    BudgetShare::Whole => item.units,
                    BudgetShare::Shortened(units) => {
                        prop_assert!(*units < item.units && *units >= SHORTEST);
                        *units
                    }
                    BudgetShare::Omitted => 0,
                };
                total += given;
                if item.standing == ItemProtection::Protected {
                    guarded += item.units;
                }
            }
            if guarded <= protected_limit {
                prop_assert!(total <= limit.max(guarded));
                prop_assert!(items.iter().zip(&shares).all(|(item, share)| item.standing == ItemProtection::Plain || *share == BudgetShare::Whole));
            } else {
                prop_assert!(total <= limit);
            }
            // The longest are shortened first: no item gets more than one that needed less.
            let level = shares.iter().find_map(|share| match share { BudgetShare::Shortened(level) => Some(*level), _ => None });
            if let Some(level) = level {
                for (item, share) in items.iter().zip(&shares) {
                    let guarded = item.standing == ItemProtection::Protected && guarded <= protected_limit;
                    prop_assert!(*share != BudgetShare::Whole || item.units <= level || guarded);
                }
            }
        }
    }
}

//! What it saved to leave part of a history out.
//!
//! A token that was not sent would have cost at least a read from the cache; the cost of making summaries is
//! subtracted. The figure is therefore rather too low than too high.

use std::collections::BTreeMap;

use longhaul_core::money::Usd;

use crate::manage::Compactor;

/// What this many tokens would have cost at the least; `None` if the model's prices are not known.
pub(super) fn of_left_out(care: &Compactor, model: &str, tokens: u64) -> Option<Usd> {
    let prices = care.spec(model).prices.clone()?;
    // Larger prompts cost more.
    Some(prices.at(0).cache_read.of(tokens))
}

/// What the omitted tokens of these calls would have cost; `None` if no model's prices are known.
pub(super) fn of_calls<'c>(
    care: &Compactor,
    calls: impl Iterator<Item = (&'c str, u64)>,
) -> Option<Usd> {
    let mut left_out: BTreeMap<&str, u64> = BTreeMap::new();
    for (model, tokens) in calls {
        *left_out.entry(model).or_default() += tokens;
    }
    let worth = left_out
        .into_iter()
        .filter_map(|(model, tokens)| of_left_out(care, model, tokens));
    worth.reduce(|all, one| all + one)
}

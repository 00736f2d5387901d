//! What it was worth to leave something out.
//!
//! A token that was not sent would have cost a read from the cache at the least; what it cost to make summaries is taken
//! off. So the figure errs on the side of too little.

use std::collections::BTreeMap;

use longhaul_core::money::Usd;

use crate::manage::Compactor;

/// What so many tokens would have cost at the least; none if the model's prices are not known.
pub(super) fn of_left_out(care: &Compactor, model: &str, tokens: u64) -> Option<Usd> {
    let prices = care.spec(model).prices.clone()?;
    // Larger prompts cost more.
    Some(prices.at(0).cache_read.of(tokens))
}

/// The same over calls of several models; none if no model's prices are known.
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

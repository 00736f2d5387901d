//! What it saved to leave part of a history out.
//!
//! A token that was not sent would have cost at least a read from the cache; the cost of making summaries is
//! subtracted. The figure is therefore rather too low than too high.

use std::collections::BTreeMap;

use longhaul_core::models::ModelSpec;
use longhaul_core::money::Usd;

/// What this many tokens would have cost at the least; `None` if the model's prices are not known.
pub(crate) fn of_left_out(spec: &ModelSpec, tokens: u64) -> Option<Usd> {
    let prices = spec.prices.as_ref()?;
    // Larger prompts cost more.
    Some(prices.at(0).cache_read.of(tokens))
}

/// What the omitted tokens of these calls would have cost; `None` if no model's prices are known.
pub(crate) fn of_calls<'c>(
    calls: impl Iterator<Item = (&'c str, u64)>,
    worth: impl Fn(&str, u64) -> Option<Usd>,
) -> Option<Usd> {
    let mut left_out: BTreeMap<&str, u64> = BTreeMap::new();
    for (model, tokens) in calls {
        *left_out.entry(model).or_default() += tokens;
    }
    let each = left_out
        .into_iter()
        .filter_map(|(model, tokens)| worth(model, tokens));
    each.reduce(|all, one| all + one)
}

//! What it was worth to leave something out.
//!
//! A token that was not sent would have cost a read from the cache at the least; what it cost to make summaries is taken
//! off. So the figure errs on the side of too little.

use longhaul_core::models::ModelTable;
use longhaul_core::money::Usd;

/// What so many tokens would have cost at the least; none if the model's prices are not known.
pub(super) fn of_left_out(models: &ModelTable, model: &str, tokens: u64) -> Option<Usd> {
    let spec = models.resolve(model).spec;
    // Larger prompts cost more.
    let least = spec.prices.as_ref()?.at(0);
    Some(least.cache_read.of(tokens))
}

/// The same over calls of several models; none if tokens were left out and no price is known.
pub(super) fn of_calls<'c>(
    models: &ModelTable,
    calls: impl Iterator<Item = (&'c str, u64)>,
) -> Option<Usd> {
    let left_out = calls.filter(|(_, tokens)| *tokens > 0);
    let mut worth: Vec<Option<Usd>> = left_out
        .map(|(model, tokens)| of_left_out(models, model, tokens))
        .collect();
    let any = worth.is_empty();
    worth.retain(Option::is_some);
    (any || !worth.is_empty()).then(|| worth.into_iter().flatten().sum())
}

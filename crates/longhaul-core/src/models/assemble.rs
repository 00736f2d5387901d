//! Turns a patch from models files into a full [`ModelSpec`]. Missing values are assumed, and the assumptions are
//! stated.

use super::file::{ModelPatch, PerMillion, PricesPatch, ThinkingPatch, TierPatch};
use super::prices::{PriceTier, Prices, TokenPrices};
use super::spec::ModelSpec;
use super::thinking::{EffortLevel, ThinkingRules};

/// The window of an unknown model: all models of recent years have at least this much.
const WINDOW: u64 = 200_000;
const MAX_OUTPUT: u64 = 32_000;
const CACHE_MINIMUM: u64 = 1_024;

/// Creates a model from a patch, with the prices made from the same patch.
pub(super) fn spec(id: &str, patch: &ModelPatch, prices: Option<Prices>) -> ModelSpec {
    let mut assumptions = Vec::new();
    let mut assume = |sentence: String| assumptions.push(sentence);
    let window = patch.window.map_or_else(
        || {
            assume(format!(
                "The window of `{id}` is not known: 200,000 tokens are assumed."
            ));
            WINDOW
        },
        u64::from,
    );
    let max_output = patch.max_output.map_or_else(
        || {
            assume(format!(
                "The maximum output of `{id}` is not known: 32,000 tokens are assumed."
            ));
            MAX_OUTPUT
        },
        u64::from,
    );
    let cache_minimum = patch.cache_minimum.unwrap_or_else(|| {
        assume(format!(
            "The shortest prefix cached for `{id}` is not known: 1,024 tokens are assumed."
        ));
        CACHE_MINIMUM
    });
    match &patch.prices {
        None => assume(format!(
            "The prices of `{id}` are not known: its costs are left out."
        )),
        Some(given) if lacks_cache_prices(given) => assume(format!(
            "Not every cache price of `{id}` is known: the price of input is assumed."
        )),
        Some(_) => {}
    }
    if patch.thinking.is_none() {
        assume(format!(
            "The thinking rules of `{id}` are not known: no thinking setting is sent, and thinking after an edit is treated as invalid."
        ));
    }
    assumptions.extend(patch.note.clone().filter(|note| !note.is_empty()));
    ModelSpec {
        id: id.to_owned(),
        window,
        max_output,
        cache_minimum,
        prices,
        tokenizer: patch.tokenizer.unwrap_or_default(),
        thinking: thinking(patch.thinking.as_ref()),
        default_effort: patch.default_effort.unwrap_or(EffortLevel::High),
        tool_overhead: patch.tool_overhead,
        us_surcharge: patch.us_surcharge.unwrap_or_default(),
        retired: patch.retired.unwrap_or_default(),
        assumptions,
    }
}

/// Returns the prices in a patch, or the class that has no price.
pub(super) fn prices(patch: &ModelPatch) -> Result<Option<Prices>, &'static str> {
    let Some(given) = &patch.prices else {
        return Ok(None);
    };
    let base = TokenPrices::from(&TierPatch {
        above: 0,
        input: given.input.ok_or("input")?,
        cache_write_5m: given.cache_write_5m,
        cache_write_1h: given.cache_write_1h,
        cache_read: given.cache_read,
        output: given.output.ok_or("output")?,
    });
    let mut tiers: Vec<PriceTier> = given.tiers.iter().flatten().map(PriceTier::from).collect();
    tiers.sort_by_key(|tier| tier.above);
    // Dollars for a thousand searches are a thousandth of that for one.
    let web_search = given.web_search.map(|price| price.0.of(1_000));
    Ok(Some(Prices {
        base,
        tiers,
        web_search,
    }))
}

fn lacks_cache_prices(given: &PricesPatch) -> bool {
    let base = [given.cache_write_5m, given.cache_write_1h, given.cache_read];
    let tiers = given.tiers.iter().flatten();
    let of_tiers =
        tiers.flat_map(|tier| [tier.cache_write_5m, tier.cache_write_1h, tier.cache_read]);
    base.into_iter()
        .chain(of_tiers)
        .any(|price| price.is_none())
}

fn thinking(patch: Option<&ThinkingPatch>) -> ThinkingRules {
    let careful = ThinkingRules::unknown();
    let Some(given) = patch else { return careful };
    ThinkingRules {
        prior: given.prior.unwrap_or(careful.prior),
        accepts: given.accepts.clone().unwrap_or(careful.accepts),
        disabled_up_to: given.disabled_up_to,
        binding: given.binding.unwrap_or(careful.binding),
        efforts: given.efforts.clone().unwrap_or_default(),
    }
}

impl From<&TierPatch> for PriceTier {
    fn from(tier: &TierPatch) -> PriceTier {
        PriceTier {
            above: tier.above,
            prices: TokenPrices::from(tier),
        }
    }
}

impl From<&TierPatch> for TokenPrices {
    fn from(given: &TierPatch) -> TokenPrices {
        let cached = |price: Option<PerMillion>| price.unwrap_or(given.input).0;
        TokenPrices {
            input: given.input.0,
            cache_write_5m: cached(given.cache_write_5m),
            cache_write_1h: cached(given.cache_write_1h),
            cache_read: cached(given.cache_read),
            output: given.output.0,
        }
    }
}

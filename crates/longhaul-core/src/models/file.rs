//! The format of a models file, and how one file overlays another.
//!
//! A file is read into patches, in which every field may be left out. Patches merge field by field, and only the merged
//! patch becomes a [`ModelSpec`](super::ModelSpec), so a value from a later file is no longer an assumption.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use toml::Spanned;

use super::spec::{Tokenizer, ToolOverhead};
use super::thinking::{EffortLevel, PriorThinking, ThinkingBinding, ThinkingType};
use crate::money::TokenPrice;

/// Why a models file was rejected. The caller knows its path; the error holds the line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// The file is not TOML, has an unknown field, or has a value of the wrong type.
    #[error("line {line}: {message}")]
    Malformed {
        /// The line, counted from 1.
        line: usize,
        /// A description of the problem that names the field.
        message: String,
    },
    /// A model's prices name only one of input and output.
    #[error(
        "line {line}: model `{model}` has no price for {missing}; give both `input` and `output` or neither"
    )]
    IncompletePrices {
        /// The line where the model begins, counted from 1.
        line: usize,
        /// The id of the model.
        model: String,
        /// The class without a price.
        missing: &'static str,
    },
}

/// A models file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    #[serde(default)]
    models: BTreeMap<String, Spanned<ModelPatch>>,
}

/// A patch and the line on which it begins.
pub(super) struct PlacedPatch {
    pub(super) id: String,
    pub(super) line: usize,
    pub(super) patch: ModelPatch,
}

/// The fields of a model in a models file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelPatch {
    pub(super) window: Option<NonZeroU64>,
    pub(super) max_output: Option<NonZeroU64>,
    pub(super) cache_minimum: Option<u64>,
    pub(super) tokenizer: Option<Tokenizer>,
    pub(super) us_surcharge: Option<bool>,
    pub(super) retired: Option<bool>,
    pub(super) aliases: Option<Vec<String>>,
    pub(super) note: Option<String>,
    pub(super) prices: Option<PricesPatch>,
    pub(super) thinking: Option<ThinkingPatch>,
    pub(super) default_effort: Option<EffortLevel>,
    pub(super) tool_overhead: Option<ToolOverhead>,
}

/// The prices of a model in a models file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PricesPatch {
    pub(super) input: Option<PerMillion>,
    pub(super) cache_write_5m: Option<PerMillion>,
    pub(super) cache_write_1h: Option<PerMillion>,
    pub(super) cache_read: Option<PerMillion>,
    pub(super) output: Option<PerMillion>,
    pub(super) tiers: Option<Vec<TierPatch>>,
    /// Dollars for a thousand searches. It has the form of a price of tokens, so that it is as exact.
    pub(super) web_search: Option<PerMillion>,
}

/// One price tier. A file that lists tiers lists all of them, so its list replaces the earlier one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TierPatch {
    pub(super) above: u64,
    pub(super) input: PerMillion,
    pub(super) cache_write_5m: Option<PerMillion>,
    pub(super) cache_write_1h: Option<PerMillion>,
    pub(super) cache_read: Option<PerMillion>,
    pub(super) output: PerMillion,
}

/// The thinking rules of a model in a models file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ThinkingPatch {
    pub(super) prior: Option<PriorThinking>,
    pub(super) accepts: Option<Vec<ThinkingType>>,
    pub(super) disabled_up_to: Option<EffortLevel>,
    pub(super) binding: Option<ThinkingBinding>,
    pub(super) efforts: Option<Vec<EffortLevel>>,
}

/// Reads a models file.
pub(super) fn read(text: &str) -> Result<Vec<PlacedPatch>, ModelFileError> {
    let file: ModelFile = toml::from_str(text).map_err(|error| ModelFileError::Malformed {
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let placed = file.models.into_iter().map(|(id, patch)| PlacedPatch {
        id,
        line: line_of(text, patch.span().start),
        patch: patch.into_inner(),
    });
    Ok(placed.collect())
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    1 + memchr::memchr_iter(b'\n', before).count()
}

impl ModelPatch {
    /// Returns this patch overlaid with a later one.
    pub(super) fn overlaid(self, later: ModelPatch) -> ModelPatch {
        ModelPatch {
            window: later.window.or(self.window),
            max_output: later.max_output.or(self.max_output),
            cache_minimum: later.cache_minimum.or(self.cache_minimum),
            tokenizer: later.tokenizer.or(self.tokenizer),
            us_surcharge: later.us_surcharge.or(self.us_surcharge),
            retired: later.retired.or(self.retired),
            aliases: later.aliases.or(self.aliases),
            note: later.note.or(self.note),
            prices: overlay(self.prices, later.prices, PricesPatch::overlaid),
            thinking: overlay(self.thinking, later.thinking, ThinkingPatch::overlaid),
            default_effort: later.default_effort.or(self.default_effort),
            tool_overhead: later.tool_overhead.or(self.tool_overhead),
        }
    }
}

impl PricesPatch {
    fn overlaid(self, later: PricesPatch) -> PricesPatch {
        PricesPatch {
            input: later.input.or(self.input),
            cache_write_5m: later.cache_write_5m.or(self.cache_write_5m),
            cache_write_1h: later.cache_write_1h.or(self.cache_write_1h),
            cache_read: later.cache_read.or(self.cache_read),
            output: later.output.or(self.output),
            tiers: later.tiers.or(self.tiers),
            web_search: later.web_search.or(self.web_search),
        }
    }
}

impl ThinkingPatch {
    fn overlaid(self, later: ThinkingPatch) -> ThinkingPatch {
        ThinkingPatch {
            prior: later.prior.or(self.prior),
            accepts: later.accepts.or(self.accepts),
            disabled_up_to: later.disabled_up_to.or(self.disabled_up_to),
            binding: later.binding.or(self.binding),
            efforts: later.efforts.or(self.efforts),
        }
    }
}

fn overlay<T>(earlier: Option<T>, later: Option<T>, merge: fn(T, T) -> T) -> Option<T> {
    match (earlier, later) {
        (Some(earlier), Some(later)) => Some(merge(earlier, later)),
        (earlier, later) => later.or(earlier),
    }
}

/// A price as models files give it: dollars for a million tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct PerMillion(pub(super) TokenPrice);

impl<'de> Deserialize<'de> for PerMillion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PerMillion, D::Error> {
        deserializer.deserialize_any(PriceVisitor).map(PerMillion)
    }
}

/// Reads a price exactly: six decimals of a dollar per million tokens are one picodollar per token.
struct PriceVisitor;

impl Visitor<'_> for PriceVisitor {
    type Value = TokenPrice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dollars for a million tokens: 0 to 1000000, at most six decimals")
    }

    fn visit_i64<E: de::Error>(self, dollars: i64) -> Result<TokenPrice, E> {
        self.visit_f64(dollars as f64)
    }

    fn visit_f64<E: de::Error>(self, dollars: f64) -> Result<TokenPrice, E> {
        let pico = dollars * 1e6;
        let whole = pico.round();
        // A decimal fraction is not exact in binary; a larger error means that there is a seventh decimal.
        let exact = (pico - whole).abs() <= whole.abs() * 1e-12 + 1e-6;
        if (0.0..=1e6).contains(&dollars) && exact {
            Ok(TokenPrice::from_pico_per_token(whole as u64))
        } else {
            Err(E::invalid_value(de::Unexpected::Float(dollars), &self))
        }
    }
}

//! One model: everything the engine needs to know of it, and what a reply of it cost.

use serde::{Deserialize, Serialize};

use super::prices::{BillingTerms, Prices};
use super::thinking::{EffortLevel, ThinkingRules};
use crate::message::Usage;
use crate::money::Usd;

/// What is known of a model. Where nothing is, [`assumptions`](ModelSpec::assumptions) says what was put instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSpec {
    /// Its id as in the table, or as asked for if it is in none.
    pub id: String,
    /// Tokens of context.
    pub window: u64,
    /// Tokens it can write in one reply.
    pub max_output: u64,
    /// The shortest prefix the provider caches, in tokens.
    pub cache_minimum: u64,
    /// What a token costs; none: not known.
    pub prices: Option<Prices>,
    /// Which tokenizer counts its text.
    pub tokenizer: Tokenizer,
    /// Its rules about thinking.
    pub thinking: ThinkingRules,
    /// The effort of a request that names none.
    pub default_effort: EffortLevel,
    /// Tokens the provider adds when tools are given, where known.
    pub tool_overhead: Option<ToolOverhead>,
    /// Whether inference kept in the US costs more.
    pub us_surcharge: bool,
    /// No longer served.
    pub retired: bool,
    /// Sentences: what of the above is assumed.
    pub assumptions: Vec<String>,
}

impl ModelSpec {
    /// What one billed step cost; none if the prices are not known.
    pub fn cost(&self, step: &Usage) -> Option<Usd> {
        self.cost_under(step, step)
    }

    /// What a whole reply cost: the sum over its billed steps.
    pub fn cost_of_reply(&self, reply: &Usage) -> Option<Usd> {
        reply
            .billed()
            .map(|step| self.cost_under(step, reply))
            .sum()
    }

    /// The batch rate and the surcharge are noted on the reply, not on its steps.
    fn cost_under(&self, step: &Usage, reply: &Usage) -> Option<Usd> {
        let terms = BillingTerms {
            batch: step.batch || reply.batch,
            us_only: self.us_surcharge && (step.us_only || reply.us_only),
        };
        Some(self.prices.as_ref()?.cost(step, terms))
    }
}

/// A family of tokenizers: models of one count the same text alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tokenizer {
    /// Claude up to 4.6.
    Old,
    /// Claude from 4.7 on: about 30% more tokens for the same text.
    New,
    /// Some other.
    #[default]
    Unknown,
}

/// Tokens the provider adds to a prompt with tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolOverhead {
    /// With `tool_choice` `auto` or `none`.
    pub auto: u64,
    /// With `tool_choice` `any` or `tool`.
    pub forced: u64,
}

//! The properties of one model that the engine needs, and the cost of its replies.

use serde::{Deserialize, Serialize};

use super::prices::{BillingTerms, Prices};
use super::thinking::{EffortLevel, ThinkingRules};
use crate::message::Usage;
use crate::money::Usd;

/// The known properties of a model. Where a property is unknown, [`assumptions`](ModelSpec::assumptions) states the
/// value used instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSpec {
    /// The model's id in the table, or the requested id if the table does not have it.
    pub id: String,
    /// The size of the context window in tokens.
    pub window: u64,
    /// The maximum number of tokens in one reply.
    pub max_output: u64,
    /// The shortest prefix that the provider caches, in tokens.
    pub cache_minimum: u64,
    /// The token prices, or `None` if they are not known.
    pub prices: Option<Prices>,
    /// The tokenizer that counts the model's text.
    pub tokenizer: Tokenizer,
    /// The model's rules about thinking.
    pub thinking: ThinkingRules,
    /// The effort of a request that does not specify one.
    pub default_effort: EffortLevel,
    /// The tokens that the provider adds for tools, if known.
    pub tool_overhead: Option<ToolOverhead>,
    /// Whether inference that stays in the US costs more.
    pub us_surcharge: bool,
    /// Whether the model is no longer served.
    pub retired: bool,
    /// Sentences that say which of these values are assumed.
    pub assumptions: Vec<String>,
}

impl ModelSpec {
    /// Returns the cost of one billed step, or `None` if the prices are not known.
    pub fn cost(&self, step: &Usage) -> Option<Usd> {
        self.cost_under(step, step)
    }

    /// Returns the cost of a whole reply: the sum over its billed steps, and its searches of the web.
    pub fn cost_of_reply(&self, reply: &Usage) -> Option<Usd> {
        let tokens: Option<Usd> = reply
            .billed()
            .map(|step| self.cost_under(step, reply))
            .sum();
        let searches = self.prices.as_ref()?.searches(reply.web_searches);
        Some(tokens? + searches)
    }

    /// The price of one search of the web that the provider runs for this model; `None` if it runs none.
    pub fn web_search_price(&self) -> Option<Usd> {
        self.prices.as_ref()?.web_search
    }

    /// Returns the cost of a step. The batch rate and the surcharge are recorded on the reply, not on its steps.
    fn cost_under(&self, step: &Usage, reply: &Usage) -> Option<Usd> {
        let terms = BillingTerms {
            batch: step.batch || reply.batch,
            us_only: self.us_surcharge && (step.us_only || reply.us_only),
        };
        Some(self.prices.as_ref()?.cost(step, terms))
    }
}

/// A family of tokenizers. All models of a family count the same text alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tokenizer {
    /// The tokenizer of Claude up to 4.6.
    Old,
    /// The tokenizer of Claude since 4.7: about 30% more tokens for the same text.
    New,
    /// Any other tokenizer.
    #[default]
    Unknown,
}

/// Tokens the provider adds to a prompt with tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolOverhead {
    /// The tokens added with `tool_choice` `auto` or `none`.
    pub auto: u64,
    /// The tokens added with `tool_choice` `any` or `tool`.
    pub forced: u64,
}

//! The record of a decision by price (V6): `compactMetadata.economy` or `microcompactMetadata.economy` on a boundary.
//!
//! It holds what was known when the decision was made. Whether the action has paid for itself is computed when the
//! record is read, from the number of requests since.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{EconomyAction, EconomyDecision, EconomyPolicy, TokenRates};
use crate::json::ObjectReader;
use crate::message::EntryView;
use crate::money::Usd;

/// A decision as it is written to a boundary. Amounts are in US dollars.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EconomyRecord {
    /// The policy that decided.
    pub policy: EconomyPolicy,
    /// What was done.
    pub action: RecordedEconomyAction,
    /// What it costs, compared with sending the conversation as it was; negative if it makes the next request cheaper.
    pub price_usd: f64,
    /// What sending it again had cost since it could first have been removed.
    pub rent_usd: f64,
    /// The part of the price that was waived because it only grows while one waits; the rent had reached the rest. `None`
    /// where an earlier version did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived_usd: Option<f64>,
    /// The tokens that left the view.
    pub tokens_freed: u64,
    /// What each later request on a hot cache costs less.
    pub saved_per_request_usd: f64,
    /// After how many requests the price is expected to be earned; `None` if it never is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pay_back_requests: Option<u64>,
}

/// The kind of an action that was decided by price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedEconomyAction {
    /// Results were cleared.
    Clear,
    /// The conversation was summarized.
    Summarize,
}

/// What has become of a decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EconomyOutcome {
    /// What has been saved since, less the price.
    pub saved_usd: f64,
    /// Whether the price has been earned.
    pub has_paid_back: bool,
}

impl EconomyRecord {
    /// Returns the record of a decision.
    pub fn new(policy: EconomyPolicy, decision: &EconomyDecision, rates: &TokenRates) -> Self {
        Self {
            policy,
            action: match decision.action {
                EconomyAction::Clear(_) => RecordedEconomyAction::Clear,
                EconomyAction::Summarize => RecordedEconomyAction::Summarize,
            },
            price_usd: decision.price.to_f64(),
            rent_usd: decision.rent.to_f64(),
            waived_usd: Some(decision.waived.to_f64()),
            tokens_freed: decision.freed,
            saved_per_request_usd: rates.read.of(decision.freed).to_f64(),
            pay_back_requests: decision.pays_back_after,
        }
    }

    /// Returns the JSON that is written on the boundary.
    pub fn to_boundary(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Reads the record from the metadata of a boundary. Returns `None` if the action was not decided by price, or if
    /// the record is damaged.
    pub fn of_boundary(boundary: EntryView<'_>) -> Option<Self> {
        Self::of_metadata(boundary.object(boundary.facets.metadata))
    }

    /// Reads the record from a metadata object.
    fn of_metadata(metadata: ObjectReader<'_>) -> Option<Self> {
        Self::read(metadata.get("economy")?)
    }

    /// Reads the record from its JSON. Returns `None` if it is damaged.
    pub fn read(json: &[u8]) -> Option<Self> {
        let record: Self = serde_json::from_slice(json).ok()?;
        let amounts = [
            record.price_usd,
            record.rent_usd,
            record.waived_usd.unwrap_or_default(),
            record.saved_per_request_usd,
        ];
        amounts
            .iter()
            .all(|amount| amount.is_finite())
            .then_some(record)
    }

    /// Returns what the action has saved after this many later requests. The first of them sends the new view, so its
    /// saving is part of the price.
    pub fn after(&self, requests: u64) -> EconomyOutcome {
        let saved_usd = self.saved_per_request_usd * requests as f64 - self.price_usd;
        EconomyOutcome {
            saved_usd,
            has_paid_back: saved_usd >= 0.0,
        }
    }

    /// The price as an amount of money.
    pub fn price(&self) -> Usd {
        Usd::from_f64(self.price_usd)
    }
}

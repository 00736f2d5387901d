//! A decision and the figures that led to it (V6 records them).

use std::ops::Range;

use serde::Serialize;

use super::TokenRates;
use crate::money::Usd;

/// Something to do before the next request, because it pays.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EconomyDecision {
    /// What to do.
    pub action: EconomyAction,
    /// What it costs.
    pub price: Usd,
    /// What sending it again has cost since it could first have been removed.
    pub rent: Usd,
    /// The part of the price that was waived: most of what it has grown by. The rent has reached the rest of the price.
    pub waived: Usd,
    /// The tokens that leave the view.
    pub freed: u64,
    /// After how many requests on a hot cache the price is earned. `None` if reading is free.
    pub pays_back_after: Option<u64>,
}

/// An action that is decided by price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EconomyAction {
    /// Clear these active results, counted from the oldest.
    Clear(Range<usize>),
    /// Summarize the conversation.
    Summarize,
}

impl EconomyDecision {
    pub(super) fn new(
        action: EconomyAction,
        price: Usd,
        rent: Usd,
        freed: u64,
        rates: &TokenRates,
    ) -> Self {
        let saved = rates.read.of(freed).pico();
        let pays_back_after = match price.pico() {
            price if price <= 0 => Some(0),
            _ if saved <= 0 => None,
            price => u64::try_from((price + saved - 1) / saved).ok(),
        };
        Self {
            action,
            price,
            rent,
            waived: Usd::ZERO,
            freed,
            pays_back_after,
        }
    }

    /// The same decision, for which this part of the price was waived.
    pub(super) fn waiving(mut self, waived: Usd) -> Self {
        self.waived = waived;
        self
    }

    /// The rent that is left after the price.
    pub fn gain(&self) -> Usd {
        self.rent - self.price
    }
}

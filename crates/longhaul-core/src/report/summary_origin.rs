//! How a summary came about: who made it, what that cost, how long it took and how long somebody waited for it
//! (`compactMetadata.made` on the boundary). It is written by the engine; here it is read back.

use crate::message::{EntryView, Usage};

/// How a summary came about. What a boundary does not tell is none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SummaryOrigin {
    /// `fork`, `plain`, `local`, `approved`, `provider`, `notes` or `fold`.
    pub by: Option<String>,
    /// Whether it was prepared before it was needed.
    pub ahead: bool,
    /// How long a turn waited for it, in milliseconds.
    pub waited_ms: Option<u64>,
    /// How long it took to make, in milliseconds.
    pub took_ms: Option<u64>,
    /// What it cost; none if no model was asked or its prices are not known.
    pub cost_usd: Option<f64>,
    /// The tokens that were billed for it.
    pub usage: Option<Usage>,
}

impl SummaryOrigin {
    /// What a boundary tells. None if it tells nothing.
    pub fn of_boundary(boundary: EntryView<'_>) -> Option<Self> {
        let made = boundary.object(boundary.facets.metadata).object("made")?;
        Some(Self {
            by: made.string("by").map(Into::into),
            ahead: made.get("ahead") == Some(b"true"),
            waited_ms: made.count("waitedMs"),
            took_ms: made.count("tookMs"),
            cost_usd: made.get("costUsd").and_then(dollars),
            usage: made.get("usage").and_then(Usage::read),
        })
    }
}

/// An amount of money as it is recorded: a number that is not negative.
pub(crate) fn dollars(literal: &[u8]) -> Option<f64> {
    let amount: f64 = serde_json::from_slice(literal).ok()?;
    (amount >= 0.0).then_some(amount)
}

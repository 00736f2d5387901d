//! The origin of a summary: its maker, its cost, how long it took and how long a turn waited for it
//! (`compactMetadata.made` on the boundary). The engine writes it; this module reads it back.

use crate::message::{EntryView, Usage};

/// The origin of a summary. Values that a boundary does not record are `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SummaryOrigin {
    /// Who made the summary: `fork`, `plain`, `local`, `approved`, `provider`, `notes` or `fold`.
    pub by: Option<String>,
    /// Whether the summary was prepared before it was needed.
    pub ahead: bool,
    /// How long a turn waited for the summary, in milliseconds.
    pub waited_ms: Option<u64>,
    /// How long it took to make the summary, in milliseconds.
    pub took_ms: Option<u64>,
    /// The cost of the summary; `None` if no model was asked or its prices are not known.
    pub cost_usd: Option<f64>,
    /// The tokens that were billed for the summary.
    pub usage: Option<Usage>,
}

impl SummaryOrigin {
    /// Reads the origin from a boundary. Returns `None` if the boundary does not record it.
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

/// Reads a recorded amount of money: a number that is not negative.
pub(crate) fn dollars(literal: &[u8]) -> Option<f64> {
    let amount: f64 = serde_json::from_slice(literal).ok()?;
    (amount >= 0.0).then_some(amount)
}

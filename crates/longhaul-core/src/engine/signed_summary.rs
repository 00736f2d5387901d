//! The provider's answer when it was the summarizer (N3): one signed block, which is kept as it was written.
//! `provider.rs` asks for it.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::summary::Summary;
use crate::tokens::{ContentClass, Estimate, RoughEstimator};

/// A summary that the provider made.
#[derive(Debug, Clone)]
pub(super) struct SignedSummary {
    /// The reply with the summary.
    pub(super) message: Box<RawValue>,
    /// The weight of the summary's block.
    pub(super) weight: Estimate,
}

/// Reads the provider's answer: one signed block with a text in it, and nothing else. A reply without one is a failed
/// compaction.
pub(super) fn read(message: Option<&RawValue>) -> Option<(Summary, SignedSummary)> {
    let message = message?;
    let value: Value = serde_json::from_str(message.get()).ok()?;
    let [block] = value["content"].as_array()?.as_slice() else {
        return None;
    };
    if block["type"] != "compaction" || block["signature"].as_str().is_none_or(str::is_empty) {
        return None;
    }
    let summary = Summary::new(block["content"].as_str()?)?;
    let units = block.to_string().encode_utf16().count() as u64;
    let signed = SignedSummary {
        message: message.to_owned(),
        weight: RoughEstimator.tokens(ContentClass::Serialized, units),
    };
    Some((summary, signed))
}

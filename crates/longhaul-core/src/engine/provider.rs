//! The provider as the summarizer (N3): its own compaction on demand. The request is the conversation's own bytes
//! followed by a field, and so a cache hit; the answer is one signed block, which is kept as it was written.

use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::compact::CompactionInProgress;
use super::prefix_additions::compacts_by_threshold;
use super::{Engine, SummarizerSetting};
use crate::prompt::RequestKind;
use crate::summary::{PivotDirection, Summary, provider_instructions};
use crate::tokens::{ContentClass, Estimate, RoughEstimator};

/// A summary that the provider made.
#[derive(Debug, Clone)]
pub(super) struct SignedSummary {
    /// The reply with the summary.
    pub(super) message: Box<RawValue>,
    /// The weight of the summary's block.
    pub(super) weight: Estimate,
}

impl Engine {
    /// Whether the provider can be asked for this summary. It cannot summarize a part after kept messages: its block
    /// must come first.
    pub(super) fn asks_provider(&self, compaction: &CompactionInProgress) -> bool {
        self.config.summarizer == SummarizerSetting::Provider
            && compaction.direction != Some(PivotDirection::From)
            && compaction.folding.is_none()
            && !compacts_by_threshold(&self.prefix)
    }

    /// The request to the provider.
    pub(super) fn provider_request(
        &mut self,
        compaction: &CompactionInProgress,
    ) -> Option<(Vec<Bytes>, Vec<String>)> {
        let hooks = compaction.hook_texts();
        let instructions = provider_instructions(&self.instructions(compaction, &hooks))?;
        let mut asked = json!({"type": "summarize"});
        if let Some(text) = instructions {
            asked["instructions"] = text.into();
        }
        let field = serde_json::value::to_raw_value(&json!({"compaction": asked})).ok()?;
        let until = self.first_kept(compaction);
        let assembly = self.assembly.as_mut()?;
        let assembled = assembly.request_until(RequestKind::SummedUp, until, Some(&field));
        let betas = assembly.prefix().latched.betas.clone();
        Some((assembled.ok()?.slices, betas))
    }
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

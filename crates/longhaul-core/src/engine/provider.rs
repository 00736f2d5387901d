//! The provider as the summarizer (N3): its own compaction on demand. The request is the conversation's own bytes
//! followed by a field, and so a cache hit; the answer is one signed block, which is kept as it was written.

use bytes::Bytes;
use serde_json::json;

use super::compaction_in_progress::CompactionInProgress;
use super::prefix_additions::compacts_by_threshold;
use super::{Engine, SummarizerSetting};
use crate::prompt::RequestKind;
use crate::summary::{PivotDirection, provider_instructions};

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

//! The engine's additions to the host's request prefix: betas that the conversation needs, references for cache edits,
//! and the clearing that the provider is asked to do by itself. Adding them twice changes nothing, so a prefix that was
//! read back from the transcript stays the same (Y2).

use serde_json::Value;

use super::{CacheEditSupport, Engine, SummarizerSetting};
use crate::micro::native::{self, KeepThinking};
use crate::micro::{PressureOwner, is_rested};
use crate::models::{EffortLevel, ThinkingType};
use crate::prompt::{RequestPrefix, ThinkingChoice};

/// The beta for summaries on demand: it is needed to request one, and in every request that carries one.
pub(super) const ON_DEMAND: &str = "compact-2026-09-04";
/// The beta for cache edits and their references.
const CACHE_EDITS: &str = "longhaul-cache-edits-2026-11-15";

impl Engine {
    /// The request prefix as it is sent.
    pub(super) fn with_engine_additions(
        &self,
        mut head: RequestPrefix,
        keep: KeepThinking,
    ) -> RequestPrefix {
        let config = &self.config;
        if config.summarizer == SummarizerSetting::Provider || self.live.is_signed() {
            head.latched.add_betas([ON_DEMAND.to_owned()]);
        }
        if config.cache_edits == CacheEditSupport::Supported {
            head.latched.cache_references = true;
            head.latched.add_betas([CACHE_EDITS.to_owned()]);
        }
        if config.pressure == PressureOwner::Providers && !has_edits_of_its_own(&head) {
            let keep = if self.thinks(&head) {
                keep
            } else {
                KeepThinking::NoEdit
            };
            let tools = head.tool_names();
            let tools = tools.iter().map(String::as_str);
            let edits = native::context_management(&config.window, &config.clearable, tools, keep);
            head.latched.set_field("context_management", &edits);
            head.latched.add_betas([native::BETA.to_owned()]);
        }
        head
    }

    /// The request prefix of the next request, unless it is made anew before.
    pub fn prefix(&self) -> &RequestPrefix {
        &self.prefix
    }

    /// Lets the model think in another way, also after the next compaction. Where that cannot be sent, nothing changes;
    /// the host asks [`RequestPrefix::with_thinking`] first.
    pub(super) fn set_thinking(&mut self, think: ThinkingChoice, effort: Option<EffortLevel>) {
        let model = &self.config.model;
        for prefix in std::iter::once(&mut self.prefix).chain(&mut self.next_prefix) {
            if let Ok(switch) = prefix.with_thinking(model, think, effort) {
                *prefix = switch.prefix;
            }
        }
    }

    /// Drops the thinking of older turns, too, after an idle period that leaves nothing of the cache to lose.
    pub(super) fn rest(&mut self, now: jiff::Timestamp) {
        let rested = is_rested(&self.config.micro, self.live.last_reply(), now);
        if rested && self.config.pressure == PressureOwner::Providers {
            self.prefix = self.with_engine_additions(self.prefix.clone(), KeepThinking::LastTurn);
        }
    }

    fn thinks(&self, head: &RequestPrefix) -> bool {
        let thinking = head.latched.field("thinking");
        let thinking = thinking.and_then(|json| serde_json::from_str::<Value>(json).ok());
        let rules = &self.config.model.thinking;
        match thinking
            .as_ref()
            .and_then(|thinking| thinking["type"].as_str())
        {
            Some(kind) => matches!(kind, "adaptive" | "enabled"),
            // Models that accept no budget think unless they are told not to.
            None => rules.takes(ThinkingType::Adaptive) && !rules.takes(ThinkingType::Enabled),
        }
    }
}

/// Which thinking a request prefix asks to keep.
pub(super) fn kept_thinking(head: &RequestPrefix) -> KeepThinking {
    match head.latched.field("context_management") {
        Some(edits) if edits.contains("\"thinking_turns\"") => KeepThinking::LastTurn,
        _ => KeepThinking::All,
    }
}

/// Whether the host requests edits that are not ours; then they are left to the host.
fn has_edits_of_its_own(head: &RequestPrefix) -> bool {
    const OURS: [&str; 2] = ["clear_tool_uses_20250919", "clear_thinking_20251015"];
    let field = head.latched.field("context_management");
    let asked = field.and_then(|json| serde_json::from_str::<Value>(json).ok());
    let edits = asked.as_ref().and_then(|asked| asked["edits"].as_array());
    let kinds = edits
        .into_iter()
        .flatten()
        .map(|edit| edit["type"].as_str());
    kinds
        .into_iter()
        .any(|kind| !OURS.iter().any(|ours| kind == Some(ours)))
}

/// Whether the provider compacts by itself with this request prefix: it refuses to where a signed summary is present.
pub(super) fn compacts_by_threshold(head: &RequestPrefix) -> bool {
    let edits = head.latched.field("context_management");
    edits.is_some_and(|edits| edits.contains("\"compact_20260112\""))
}

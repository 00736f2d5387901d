//! What the engine adds to a head that a host wants: betas that the conversation needs, references for cache edits, and
//! what the provider is asked to clear by itself. Putting it on twice changes nothing, so a head that was read back from
//! the transcript stays as it is (Y2).

use serde_json::Value;

use super::{CacheEditSupport, Engine, SummarizerSetting};
use crate::micro::native::{self, KeepThinking};
use crate::micro::{PressureOwner, is_rested};
use crate::models::ThinkingType;
use crate::prompt::RequestPrefix;

/// The beta of summaries on demand: for asking, and for every request that carries one.
pub(super) const ON_DEMAND: &str = "compact-2026-09-04";
/// The beta that cache edits and references for them need.
const CACHE_EDITS: &str = "longhaul-cache-edits-2026-11-15";

impl Engine {
    /// A head as requests have it.
    pub(super) fn with_engine_additions(
        &self,
        mut head: RequestPrefix,
        keep: KeepThinking,
    ) -> RequestPrefix {
        let config = &self.config;
        if config.summariser == SummarizerSetting::Provider || self.live.is_signed() {
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

    /// After a rest nothing of the cache is left to be lost: thinking of older turns goes, too.
    pub(super) fn rest(&mut self, now: jiff::Timestamp) {
        let rested = is_rested(&self.config.micro, self.live.last_reply(), now);
        if rested && self.config.pressure == PressureOwner::Providers {
            self.head = self.with_engine_additions(self.head.clone(), KeepThinking::LastTurn);
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
            // Models that take no budget think unless they are told not to.
            None => rules.takes(ThinkingType::Adaptive) && !rules.takes(ThinkingType::Enabled),
        }
    }
}

/// Which thinking a head asks to be kept.
pub(super) fn kept_thinking(head: &RequestPrefix) -> KeepThinking {
    match head.latched.field("context_management") {
        Some(edits) if edits.contains("\"thinking_turns\"") => KeepThinking::LastTurn,
        _ => KeepThinking::All,
    }
}

/// Whether the host asks for edits that are not ours; then they are left to it.
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

/// Whether the provider compacts by itself under this head: it refuses to where a signed summary stands.
pub(super) fn compacts_by_threshold(head: &RequestPrefix) -> bool {
    let edits = head.latched.field("context_management");
    edits.is_some_and(|edits| edits.contains("\"compact_20260112\""))
}

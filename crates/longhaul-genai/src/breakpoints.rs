//! Cache breakpoints, which not every provider has.

use genai::adapter::AdapterKind;
use genai::chat::CacheControl;
use serde_json::Value;

/// Whether cache breakpoints are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakpointPolicy {
    PassedOn,
    LeftOut,
}

impl BreakpointPolicy {
    /// Only Anthropic's models have breakpoints of this kind. OpenAI's newest models have others, which genai refuses
    /// on messages without text.
    pub(crate) fn for_adapter(adapter: AdapterKind) -> Self {
        match adapter {
            AdapterKind::Anthropic | AdapterKind::Vertex => Self::PassedOn,
            _ => Self::LeftOut,
        }
    }

    /// The breakpoint on a block, if it has one that is passed on.
    pub(crate) fn on(self, block: &Value) -> Option<CacheControl> {
        let marker = block
            .get("cache_control")
            .filter(|marker| marker.is_object())?;
        match self {
            Self::LeftOut => None,
            Self::PassedOn if marker["ttl"] == "1h" => Some(CacheControl::Ephemeral1h),
            Self::PassedOn => Some(CacheControl::Ephemeral),
        }
    }
}

//! What the provider adds to a prompt: instructions for tools, citations, output formats, thinking.
//!
//! The overhead for tools is documented (API-FACTS §4.9); the others, and their positions, are derived from recorded
//! requests.

use longhaul_core::models::{ModelSpec, ToolOverhead};

use super::key::{self, PromptFeatures};
use crate::request::MessagesRequest;
use crate::tokens::{TokenCounter, TokenizerFamily};

/// The tool overhead for models whose own is not known.
const TOOLS: ToolOverhead = ToolOverhead {
    auto: 346,
    forced: 313,
};
/// The share of the tool instructions that comes after the definitions.
const BEHIND: u64 = 4;
const CITATIONS: u64 = 575;
const FORMAT: u64 = 83;
const BUDGETED_THINKING: u64 = 28;

/// The tokens added at the start of each level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ProviderOverhead {
    pub(super) tools: u64,
    pub(super) system: u64,
    pub(super) messages: u64,
}

impl ProviderOverhead {
    /// The overhead for a request.
    pub(super) fn of(
        request: &MessagesRequest,
        spec: &ModelSpec,
        features: PromptFeatures,
        counter: &TokenCounter,
    ) -> Self {
        let given = request.tools.iter().any(|tool| !tool.deferred);
        let overhead = spec.tool_overhead.unwrap_or(TOOLS);
        let tools = match key::forces_a_tool(request) {
            _ if !given => 0,
            true => overhead.forced,
            false => overhead.auto,
        };
        let behind = tools / BEHIND;
        let format = key::formats(request).map(|format| {
            let schema = counter.text(&format.to_string(), TokenizerFamily::from(spec.tokenizer));
            FORMAT + schema * 3 / 2
        });
        let citations = if features.citations { CITATIONS } else { 0 };
        Self {
            tools: tools - behind,
            system: behind + citations + format.sum::<u64>(),
            messages: match request.tag("thinking") {
                Some("enabled") => BUDGETED_THINKING,
                _ => 0,
            },
        }
    }
}

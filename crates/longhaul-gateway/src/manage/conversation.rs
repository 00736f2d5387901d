//! A conversation that is being compacted, in its parts: what is sent for it now, and what will be sent for it
//! (`CompactedDraft`).

use bytes::Bytes;
use longhaul_provider::Dialect;

/// A conversation that is to be compacted, or that was.
#[derive(Debug, Clone)]
pub struct CompactableConversation {
    /// The API dialect of its messages.
    pub dialect: Dialect,
    /// The model that it is held with.
    pub model: String,
    /// The source of the summary at its beginning: transcript lines as the engine wrote them, each with its line end.
    /// Empty if nothing was summarized so far.
    pub lines: Bytes,
    /// The elements of the summary, as they are sent.
    pub summary: Vec<Bytes>,
    /// The client's elements after the summarized part: before the work as the client sends them, after it without the
    /// cleared results. They include messages of role system, except those that lead a list of chat completions.
    pub elements: Vec<Bytes>,
    /// The ids of the calls whose results are cleared.
    pub cleared: Vec<String>,
    /// How many tokens the window holds, as counted by the provider.
    pub measured: Option<u64>,
}

//! A conversation as it is worked on, taken apart: what is sent for it now, and what is to be sent for it (`Draft`).

use bytes::Bytes;
use longhaul_provider::Dialect;

/// A conversation that is to be made smaller, or that was.
#[derive(Debug, Clone)]
pub struct CompactableConversation {
    /// How its messages are written.
    pub dialect: Dialect,
    /// The model it is held with.
    pub model: String,
    /// What the summary at its beginning was made of: transcript lines, as the engine wrote them, each with its line
    /// end. Empty: nothing was summed up so far.
    pub lines: Bytes,
    /// The elements that stand for what was summed up, as they are sent.
    pub summary: Vec<Bytes>,
    /// The client's elements behind what was summed up: as the client sends them before work is done, and without the
    /// results that are cleared after it. Messages of role system are among them, but not those that lead a list of chat
    /// completions.
    pub elements: Vec<Bytes>,
    /// Calls whose results are cleared.
    pub cleared: Vec<String>,
    /// How many tokens the window holds, as the provider counted.
    pub measured: Option<u64>,
}

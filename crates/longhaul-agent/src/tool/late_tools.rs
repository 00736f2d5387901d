//! Tools that come after a conversation has begun, because the programs that offer them are still starting.

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_core::prompt::UserPresence;

use super::Tool;

/// The name of the tool that calls the others: its definition is in the request prefix from the start, so that a tool
/// that is announced later can be called without any change of the prefix (B5).
pub const CALL_LATE_TOOL: &str = "CallServerTool";

/// Instructions for the use of tools that came together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateInstructions {
    /// Where the tools come from.
    pub server: String,
    /// The instructions as they are announced.
    pub block: String,
    /// The names of the tools.
    pub tools: Vec<String>,
}

/// Where tools come from that were not there when the conversation began.
pub trait LateTools: Send + Sync {
    /// Waits as long as a first request should wait for tools. People who wait are told what goes on.
    fn settled(&self, presence: UserPresence) -> Boxed<'_, ()>;

    /// Whether no more are to be expected.
    fn is_complete(&self) -> bool;

    /// Whether a tool of this name has come or may still come.
    fn expects(&self, name: &str) -> bool;

    /// The tools that have come so far, in the order of their names. A tool that has come stays as it is.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// What their sources say about their use.
    fn instructions(&self) -> Vec<LateInstructions>;
}

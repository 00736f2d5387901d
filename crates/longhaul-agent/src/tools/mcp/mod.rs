//! MCP servers over stdio, through the official SDK: their tools become tools of ours (Q1), their instructions are sent
//! again after a compaction (R5), and a user's prompt may hold their prompts and resources.
//!
//! Servers start in the background. The order and wording of a session's tools are part of the cache key (B5): those of
//! servers that answer before the first request are in its prefix, and those that come later are announced, and called
//! through `CallServerTool`, until the prefix is built again anyway. A server that does not start, dies or sends
//! nonsense causes a notice and failing calls, never more. `settings` reads the configurations of servers.
//!
//! Modules: `servers` is all of a session's servers · `process` a server's process · `connection` the handshake · `listener` its notifications · `line_by_line` its output ·
//! `listing` what a server offers · `server` calls and restarts · `tool` a server's tool as one of ours · `call_tool` calls
//! those that came late · `prompts`, `resources` · `names`, `schema`, `output` adapt what servers send.

mod call_tool;
mod connection;
mod line_by_line;
mod listener;
mod listing;
mod names;
mod output;
mod process;
mod prompts;
mod resources;
mod schema;
mod server;
mod servers;
mod tool;
mod tool_list;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use longhaul::environment::PassedVariables;

use super::definition::{beginning, one_line};
pub use call_tool::CallServerTool;
pub use prompts::{McpPrompt, McpPromptText};
pub use resources::{McpResource, McpResourceText};
pub use servers::{McpServerStatus, McpServers};

/// Receives notices for people, one sentence each.
pub type NoticeFn = Arc<dyn Fn(String) + Send + Sync>;

/// Where news of servers go.
#[derive(Clone)]
pub struct McpNews {
    /// Receives notices for people.
    pub notice: NoticeFn,
    /// Is called when what servers offer has changed.
    pub changed: Arc<dyn Fn() + Send + Sync>,
}

/// How a server is started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpServerConfig {
    /// The name of the server.
    pub name: String,
    /// The program to run.
    pub command: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// Variables in addition to those of our own environment.
    pub env: Vec<(String, String)>,
    /// The folder that it runs in; if none, the session's working folder.
    pub cwd: Option<PathBuf>,
    /// Variables of our own environment that it gets although they look like secrets.
    pub passed: PassedVariables,
}

/// How long things may take, and how much may be returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpLimits {
    /// The time for a server to start and list what it offers. Only unattended work waits for it.
    pub start: Duration,
    /// The time for a call, counted from the last sign of progress.
    pub call: Duration,
    /// The maximum number of estimated tokens in an answer.
    pub output: u64,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            call: Duration::from_secs(600),
            output: 25_000,
        }
    }
}

impl McpLimits {
    /// The limits from environment variables: `MCP_TIMEOUT` and `MCP_TOOL_TIMEOUT` in milliseconds,
    /// `MAX_MCP_OUTPUT_TOKENS`. A value that is not a number above zero is ignored.
    pub fn from_env(env: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name| env(name)?.trim().parse().ok().filter(|number| *number > 0);
        let limits = Self::default();
        Self {
            start: number("MCP_TIMEOUT").map_or(limits.start, Duration::from_millis),
            call: number("MCP_TOOL_TIMEOUT").map_or(limits.call, Duration::from_millis),
            output: number("MAX_MCP_OUTPUT_TOKENS").unwrap_or(limits.output),
        }
    }
}

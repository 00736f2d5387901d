//! MCP servers over stdio, through the official SDK: their tools become tools of ours (Q1), and their instructions are
//! sent again after a compaction (R5).
//!
//! The tools of a session are those that its servers had when it began: their order and wording are part of the cache
//! key (B5). A server that does not start, dies or sends nonsense causes a notice and failing calls, never more.
//! `settings` reads the configurations of servers.
//!
//! Modules: `process` is a server's process · `connection` the handshake · `server` calls and restarts · `tool` a
//! server's tool as one of ours · `names`, `schema`, `output` adapt what servers send.

mod connection;
mod names;
mod output;
mod process;
mod schema;
mod server;
mod tool;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use longhaul::environment::PassedVariables;
use longhaul_core::normalize::fragment::fill;
use serde_json::{Value, json};

use super::definition::{beginning, one_line};
use crate::session_paths::SessionPaths;
use crate::tool::Tool;
use connection::McpOffer;
use server::McpServerHandle;
use tool::McpTool;

/// The maximum length of a server's instructions, in characters.
const LONGEST_INSTRUCTIONS: usize = 2_048;

/// Receives notices for people, one sentence each.
pub type NoticeFn = Arc<dyn Fn(String) + Send + Sync>;

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
    /// The time for a server to start and list its tools.
    pub start: Duration,
    /// The time for a call, counted from the last sign of progress.
    pub call: Duration,
    /// The maximum number of estimated tokens in an answer.
    pub output: u64,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(10),
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

/// A server's instructions for its use.
#[derive(Debug, Clone, PartialEq, Eq)]
struct McpInstructions {
    /// The name of the server.
    server: String,
    /// The instructions, cut to the maximum length.
    text: String,
}

/// The servers of a session. Dropping this ends their processes, even if someone still holds one of their tools.
pub struct McpServers {
    servers: Vec<Arc<McpServerHandle>>,
    tools: Vec<Arc<dyn Tool>>,
    instructions: Vec<McpInstructions>,
}

impl McpServers {
    /// Starts all servers at the same time, and waits for each within the limits. A server that does not start causes a
    /// notice.
    pub async fn start(
        configs: Vec<McpServerConfig>,
        place: &SessionPaths,
        limits: McpLimits,
        notices: NoticeFn,
    ) -> Self {
        let starts = configs.into_iter().map(|config| {
            let server = Arc::new(McpServerHandle::new(config, place, limits, notices.clone()));
            async move {
                let offered = server.start().await;
                (server, offered)
            }
        });
        let mut running = Self {
            servers: Vec::new(),
            tools: Vec::new(),
            instructions: Vec::new(),
        };
        let mut tools = Vec::new();
        for (server, offered) in futures_util::future::join_all(starts).await {
            match offered {
                Ok(offered) => running.take(&server, offered, &mut tools),
                Err(why) => notices(format!(
                    "The MCP server `{}` is not available: {why}. Its log: {}",
                    server.name(),
                    server.log().display()
                )),
            }
        }
        // Sorted by name, whatever order they came in (B5).
        tools.sort_by(|one, other| one.name().cmp(other.name()));
        running
            .tools
            .extend(tools.into_iter().map(|tool| Arc::new(tool) as _));
        running
    }

    fn take(&mut self, server: &Arc<McpServerHandle>, offered: McpOffer, tools: &mut Vec<McpTool>) {
        let text = offered.instructions.trim();
        if !text.is_empty() {
            let short = beginning(text, LONGEST_INSTRUCTIONS);
            self.instructions.push(McpInstructions {
                server: one_line(server.name(), 64),
                text: short.map_or_else(|| text.to_owned(), |short| format!("{short}…")),
            });
        }
        for tool in &offered.tools {
            let taken = |name: &str| tools.iter().any(|there| there.name() == name);
            let name = names::free_name(server.name(), &tool.name, taken);
            tools.push(McpTool::new(server.clone(), name, tool));
        }
        self.servers.push(server.clone());
    }

    /// The servers' tools, sorted by name; they stay the same for the whole session.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }

    /// The names of the running servers, in the order of the configuration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|server| server.name())
    }

    /// The instructions for a model that has not seen any yet (R5): at the beginning, and after a compaction. `None` if
    /// there are none.
    pub fn announcement(&self) -> Option<Value> {
        let names: Vec<&str> = self.instructions.iter().map(|said| &*said.server).collect();
        let blocks: Vec<String> = self.instructions.iter().map(block).collect();
        (!names.is_empty()).then(|| {
            json!({
                "type": "mcp_instructions_delta",
                "addedNames": names,
                "addedBlocks": blocks,
                "removedNames": [],
            })
        })
    }
}

fn block(said: &McpInstructions) -> String {
    let gaps = [("server", &*said.server), ("instructions", &said.text)];
    fill(include_str!("fragments/block.md"), &gaps)
}

impl Drop for McpServers {
    fn drop(&mut self) {
        for server in &self.servers {
            server.stop();
        }
    }
}

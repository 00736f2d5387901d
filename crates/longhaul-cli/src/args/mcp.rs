//! The arguments of `longhaul mcp`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Serve recall, the sessions and the window to another agent, as an MCP server over stdin and stdout
///
/// Offers three tools that only read: `recall` searches this project's sessions, Claude Code's and Longhaul's, whether
/// the model still sees a part or not; `sessions` lists them; `context` says what fills a session's window and what the
/// session cost. The project is the folder that the server is started in. Text from sessions is marked as quoted. Ends when
/// the client closes stdin, on Ctrl-C or SIGTERM. More in docs/mcp.md.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Exit codes: 0 ended by the client or by a signal, 2 cannot start.

Examples:
  claude mcp add longhaul -- longhaul mcp              add it to Claude Code, for this project
  claude mcp add longhaul -s user -- longhaul mcp      add it for all projects, each with its own sessions
  longhaul mcp --project ~/src/app                     the sessions of another folder
  longhaul mcp --all-projects                          the sessions of all projects"
)]
pub(crate) struct McpArgs {
    /// The project whose sessions are read; by default the folder that the server is started in
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    pub(crate) project: Option<PathBuf>,
    /// Read the sessions of all projects
    #[arg(long)]
    pub(crate) all_projects: bool,
}

//! The flags of `longhaul wrap`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Run an agent through a gateway that keeps its conversations within the model's window
///
/// Starts a gateway on a free port of this machine, or uses one of yours that runs already, tells the agent its address, and
/// runs the agent in this terminal with its own keys or login. Neither the agent's files nor yours are changed. Known
/// agents are claude, opencode, aider, codex and goose, and those in LONGHAUL_HOME/agents.toml; any other can be run with
/// --env. Requests of the Responses API (Codex, OpenAI's models in opencode) are passed on unmanaged. When the agent has
/// ended, one line on stderr says what was used, saved and lost. More in docs/wrap.md.
#[derive(Debug, ClapArgs)]
#[command(
    override_usage = "longhaul wrap [OPTIONS] AGENT [ARGS]...\n       longhaul wrap [OPTIONS] --env NAME=URL -- COMMAND [ARGS]...",
    after_help = "Exit codes: that of the agent (128 plus the signal number if a signal ended it), 2 the agent is not known or the gateway
cannot start, 126 the agent cannot be run, 127 it is not installed.

Examples:
  longhaul wrap claude
  longhaul wrap --policy observe claude                       look first: nothing is changed
  longhaul wrap claude -p 'What is this project?'             arguments after the name are the agent's
  longhaul wrap --upstream sim claude                         with a simulated model, without a key
  longhaul wrap --env OPENAI_BASE_URL=https://api.openai.com/v1 -- my-agent --fast"
)]
pub(crate) struct WrapArgs {
    /// The agent, or with --env a command, and its arguments
    #[arg(
        value_name = "AGENT",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) command: Vec<OsString>,
    /// Run any command: this variable gets the address of a gateway in front of this API. May be repeated
    #[arg(long, value_name = "NAME=URL")]
    pub(crate) env: Vec<String>,
    /// Where requests go instead of to the agent's usual API: a URL, or `sim` for a simulated model; `openai=URL` for one
    /// of several APIs. May be repeated
    #[arg(long, value_name = "[API=]URL|sim")]
    pub(crate) upstream: Vec<String>,
    /// What is done (`manage`, `observe`, `off`) with which requests, as for `longhaul serve`
    #[arg(long, value_name = "RULE")]
    pub(crate) policy: Vec<String>,
    /// Certificate authorities for the upstream, as PEM, in addition to those of the system
    #[arg(long, value_name = "FILE")]
    pub(crate) upstream_ca: Option<PathBuf>,
    /// Where the usage log is kept, as for `longhaul serve`
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// What is decided by price: `off`, `clear` (the default) or `full`, as for `longhaul serve`
    #[arg(long, value_name = "off|clear|full")]
    pub(crate) economy: Option<String>,
    /// How tool results are made smaller before they are first sent, as for `longhaul serve`
    #[arg(long, value_name = "off|exact|recallable")]
    pub(crate) reduce: Option<String>,
    /// Offer the model a tool to look up what was cleared or summarized, as for `longhaul serve`
    #[arg(long)]
    pub(crate) recall: bool,
    /// The most the window may hold, in tokens; only makes it smaller
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<String>,
    /// A TOML file that adds models or overrides their fields
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<String>,
    /// Start a gateway even if one of yours is running. Every flag that changes what a gateway does (--policy, --economy,
    /// --set and the like) does so, too
    #[arg(long)]
    pub(crate) own_gateway: bool,
    /// Say nothing at the start and at the end
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

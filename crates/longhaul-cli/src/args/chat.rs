//! The flags of `longhaul chat`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use longhaul_core::money::Usd;

/// Work with an agent in this folder, or have one prompt answered
///
/// Opens a conversation in the terminal: the agent reads and changes files and runs commands as far as you let it. The
/// conversation can continue indefinitely, since old parts of it are summarized when the window fills. With -p one prompt is
/// answered on stdout, for scripts. Sessions are kept under LONGHAUL_HOME. Without ANTHROPIC_API_KEY,
/// ANTHROPIC_AUTH_TOKEN or ANTHROPIC_BASE_URL a simulated model answers that needs no network. More in docs/chat.md.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Exit codes: 0 answered, 1 the work failed, was refused or did not finish, 2 could not start (flags, settings,
key, model), 3 another process has the session open, 130 interrupted.

Examples:
  longhaul chat
  longhaul chat 'What does this project do?'
  longhaul chat --continue                             where you left off in this folder
  longhaul chat --resume                               choose a session from a list
  longhaul chat --resume 6113e919                      a session by its id (or a unique prefix of it)
  longhaul chat --resume 6113e919 --fork-session       in a copy of it
  longhaul chat -p 'Summarize the changes' < changes.diff
  longhaul chat -p 'Fix the lint' --permission-mode acceptEdits --output-format json | jq -r .result
  longhaul chat --offline --tour                       a look around without a key"
)]
pub(crate) struct ChatArgs {
    /// The first prompt
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// Answer the prompt on stdout and end; piped input is added to it
    #[arg(long, short)]
    pub(crate) print: bool,
    /// The output of -p: the last reply, one object, or one object per line as things happen
    #[arg(
        long,
        value_name = "FORMAT",
        requires = "print",
        default_value = "text"
    )]
    pub(crate) output_format: OutputFormat,
    /// The input of -p: text, or one user message per line
    #[arg(
        long,
        value_name = "FORMAT",
        requires = "print",
        default_value = "text"
    )]
    pub(crate) input_format: InputFormat,
    /// Continue the newest session of this folder
    #[arg(
        long = "continue",
        short = 'c',
        conflicts_with = "resume",
        group = "going_on"
    )]
    pub(crate) go_on: bool,
    /// Continue this session: its id (or a unique prefix of it), or its file; another program's session is copied first.
    /// Without an id, choose from a list
    #[arg(
        long,
        short,
        value_name = "ID",
        group = "going_on",
        num_args = 0..=1,
        default_missing_value = ""
    )]
    pub(crate) resume: Option<String>,
    /// Give a new session this id, a UUID
    #[arg(long, value_name = "UUID", conflicts_with = "going_on")]
    pub(crate) session_id: Option<String>,
    /// Continue in a copy of the session, which stays as it is and may be in use
    #[arg(long, requires = "going_on")]
    pub(crate) fork_session: bool,
    /// Wait while another process has the session open
    #[arg(long, requires = "going_on", conflicts_with = "fork_session")]
    pub(crate) wait: bool,
    /// Continue the branch of the session that has a prompt with this id (or a unique prefix of it)
    #[arg(long, value_name = "ID", requires = "going_on")]
    pub(crate) branch: Option<String>,
    /// The model to ask
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Maximum number of replies to one prompt
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// Maximum cost of the session, in dollars; work ends with the reply that reaches it
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub(crate) max_budget_usd: Option<Usd>,
    /// Calls that run without asking, in the form of settings: 'Bash(cargo test:*)'; separated by commas or repeated
    #[arg(long, value_name = "RULES", alias = "allowedTools")]
    pub(crate) allowed_tools: Vec<String>,
    /// Calls that never run
    #[arg(long, value_name = "RULES", alias = "disallowedTools")]
    pub(crate) disallowed_tools: Vec<String>,
    /// What runs without asking: default, acceptEdits, plan, dontAsk, bypassPermissions
    #[arg(long, value_name = "MODE")]
    pub(crate) permission_mode: Option<PermissionMode>,
    /// Another folder to work in
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// A file with further MCP servers, in the form of .mcp.json
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Vec<PathBuf>,
    /// A system prompt in place of the usual one
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,
    /// A text that is added after the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,
    /// Ask the simulated model, whatever keys there are
    #[arg(long, conflicts_with = "model")]
    pub(crate) offline: bool,
    /// Trust the settings that came with the project: hooks, permissions, variables
    #[arg(long)]
    pub(crate) trust: bool,
    /// Take a tour
    #[arg(long, conflicts_with = "print")]
    pub(crate) tour: bool,
    /// A TOML file that adds models or overrides their fields
    #[arg(long, value_name = "FILE", help_heading = "Window")]
    pub(crate) models: Option<String>,
    /// The most the window may hold, in tokens; only makes it smaller
    #[arg(long, value_name = "TOKENS", help_heading = "Window")]
    pub(crate) window: Option<String>,
}

/// The output of print mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OutputFormat {
    /// The last answer
    Text,
    /// One object
    Json,
    /// One object per line
    StreamJson,
}

/// The input of print mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InputFormat {
    /// A prompt
    Text,
    /// One user message per line
    StreamJson,
}

/// What runs without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "camelCase")]
pub(crate) enum PermissionMode {
    /// Reading in this folder
    Default,
    /// Changing files in it, too
    AcceptEdits,
    /// Nothing is changed; the agent makes a plan
    Plan,
    /// Calls that would need an answer are refused
    DontAsk,
    /// Everything
    BypassPermissions,
}

/// An amount of money above zero.
fn dollars(text: &str) -> Result<Usd, String> {
    let amount: f64 = text.trim().trim_start_matches('$').parse().unwrap_or(0.0);
    let pico = (amount * 1e12).round();
    if amount.is_finite() && pico >= 1.0 && amount <= 1e9 {
        Ok(Usd::from_pico(pico as i128))
    } else {
        Err("give an amount of dollars above 0, such as 2.50".to_owned())
    }
}

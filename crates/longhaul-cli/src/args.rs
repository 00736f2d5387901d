//! What can be typed: raw flags, as given. What they mean is resolved in `settings.rs` and by each command.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

/// What the whole program can do, by example.
macro_rules! examples {
    () => {
        "Examples:
  longhaul inspect session.jsonl        what is in this conversation's window
  longhaul inspect ~/.claude/projects   all sessions below a folder
  longhaul inspect 6113e919             a session by its id, or the beginning of it
  longhaul show session.jsonl           what the model sees, block by block
  longhaul config --explain             every setting and where its value came from"
    };
}

/// Keeps an LLM agent's conversation going without end.
///
/// Longhaul counts what is in the model's window, says how near the limits are and what it all costs. It reads the
/// transcripts that Claude Code writes (JSONL, one entry a line).
#[derive(Debug, Parser)]
#[command(
    name = "longhaul",
    version,
    max_term_width = 100,
    after_help = examples!(),
    after_long_help = concat!(
        "Environment:
  LONGHAUL_HOME        where own sessions and config.toml lie; else the user's data folder
  CLAUDE_CONFIG_DIR    where Claude Code's sessions lie; else ~/.claude
  LONGHAUL_LOG_FORMAT  `json` makes every log line a JSON object
  NO_COLOR             no colour; CLICOLOR_FORCE=1 always colour
  COLUMNS              how wide to write
  Every setting has a variable, too: `longhaul config --explain` names them.

",
        examples!()
    )
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Debug, ClapArgs)]
pub(crate) struct Global {
    /// Read settings from this file instead of LONGHAUL_HOME/config.toml
    #[arg(long, global = true, value_name = "FILE", help_heading = "Settings")]
    pub(crate) config: Option<PathBuf>,
    /// Set any setting, as in `--set compaction.automatic=false` (see `longhaul config --explain`)
    #[arg(
        long = "set",
        global = true,
        value_name = "KEY=VALUE",
        help_heading = "Settings"
    )]
    pub(crate) set: Vec<String>,
    /// Show log lines on stderr that pass this filter, as in `debug` or `longhaul_store=trace`
    #[arg(long, global = true, value_name = "FILTER", help_heading = "Settings")]
    pub(crate) log: Option<String>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Inspect(Inspect),
    Show(Show),
    Config(Config),
    Purge(Purge),
    Sim(Sim),
    Completions(Completions),
    Man(Man),
}

/// Show what is in a conversation's window, what it costs and how near the limits are
///
/// Reads one transcript, all transcripts below a folder, a session by its id, or standard input (`-`). Damaged files
/// are read as far as they are intact, and what is wrong is listed with line numbers.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Exit codes: 0 fine, 1 problems found in the data and reported, 2 cannot read.

Examples:
  longhaul inspect session.jsonl
  longhaul inspect session.jsonl --json | jq .context_tokens
  longhaul inspect session.jsonl --window 200000      as if the window were smaller
  zcat old.jsonl.gz | longhaul inspect -
  longhaul inspect ~/.claude/projects/-home-me-app"
)]
pub(crate) struct Inspect {
    /// A transcript, a folder of transcripts, a session id (or its beginning), or `-` for standard input
    #[arg(value_name = "FILE|DIR|SESSION-ID")]
    pub(crate) target: PathBuf,
    /// Print one JSON object instead (documented in docs/inspect-json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// List every response, not only the last ones
    #[arg(long)]
    pub(crate) turns: bool,
    #[command(flatten)]
    pub(crate) window: Window,
}

/// Show what the model sees: every tool, block of the system prompt and block of the messages, numbered
///
/// Lists what the next request of a session would hold, in the order in which the model reads it, with an estimate of
/// tokens, the cache marks, and what was cleared, stripped or added. `--turn` goes back to an earlier request. Sessions of
/// other programs do not record system prompt and tools; of those, the messages are shown.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Exit codes: 0 fine, 1 problems in what was read of the file, reported on stderr, 2 cannot read or show.

Examples:
  longhaul show session.jsonl
  longhaul show session.jsonl --turn 12           what the model saw when it gave its 12th response
  longhaul show session.jsonl --turn -1           the same for the last one
  longhaul show session.jsonl --full 7            item 7 of the list, whole
  longhaul show 6113e919 --json | jq '.zones'
  longhaul show session.jsonl --turn -1 --request > body.json
  longhaul show session.jsonl --say 'And now?' --request | jq .messages[-1]"
)]
pub(crate) struct Show {
    /// A transcript, a session id (or its beginning), or `-` for standard input
    #[arg(value_name = "FILE|SESSION-ID", required_unless_present = "full")]
    pub(crate) target: Option<PathBuf>,
    /// What the model saw when it gave its N-th response, as `inspect --turns` lists them; -1 is the last
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) turn: Option<i64>,
    /// As if the user said this next
    #[arg(long, value_name = "TEXT", conflicts_with = "turn")]
    pub(crate) say: Option<String>,
    /// Print whole texts instead of their first words; with a number, that of one item
    #[arg(long, value_name = "ITEM", num_args = 0..=1)]
    pub(crate) full: Option<Option<String>>,
    /// Print one JSON object instead (documented in docs/show.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the body of the request, byte for byte as it would be sent, and nothing else
    #[arg(long, conflicts_with_all = ["json", "full"])]
    pub(crate) request: bool,
    /// The model to ask where neither a request nor a reply in the transcript names one
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// A TOML file that adds models or overrides their fields
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<String>,
}

/// Flags that change what the window is taken for.
#[derive(Debug, ClapArgs)]
pub(crate) struct Window {
    /// Count with this model's window and prices where the transcript names none
    #[arg(long, value_name = "MODEL", help_heading = "Window")]
    pub(crate) model: Option<String>,
    /// A TOML file that adds models or overrides their fields
    #[arg(long, value_name = "FILE", help_heading = "Window")]
    pub(crate) models: Option<String>,
    /// The most the window may hold, in tokens; only makes it smaller
    #[arg(long, value_name = "TOKENS", help_heading = "Window")]
    pub(crate) window: Option<String>,
    /// The most a reply may hold, in tokens; only makes it smaller
    #[arg(long, value_name = "TOKENS", help_heading = "Window")]
    pub(crate) max_output: Option<String>,
    /// Where automatic compaction begins, in percent of the effective window; only makes it earlier
    #[arg(long, value_name = "PERCENT", help_heading = "Window")]
    pub(crate) auto_compact_percent: Option<String>,
    /// Where input is refused, in tokens
    #[arg(long, value_name = "TOKENS", help_heading = "Window", hide = true)]
    pub(crate) blocking_limit: Option<String>,
}

/// Show the settings
///
/// Settings come from, in rising order: defaults, the file LONGHAUL_HOME/config.toml, environment variables, flags.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  longhaul config
  longhaul config --explain
  DISABLE_AUTO_COMPACT=1 longhaul config --explain --json")]
pub(crate) struct Config {
    /// Also say where each value came from, what it does and which variables set it
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// Delete sessions that Longhaul keeps, and say which
///
/// Only ever deletes below LONGHAUL_HOME/projects; other programs' sessions are never touched. Without a choice, what
/// is older than the setting `retention.days` goes.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  longhaul purge --older-than 30 --dry-run
  longhaul purge --session 6113e919-67d3-417b-b525-c63700228d19 --yes
  longhaul purge --all --yes")]
pub(crate) struct Purge {
    /// Delete sessions not changed for this many days
    #[arg(long, value_name = "DAYS", conflicts_with_all = ["session", "all"])]
    pub(crate) older_than: Option<u32>,
    /// Delete this session
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub(crate) session: Option<String>,
    /// Delete all sessions
    #[arg(long)]
    pub(crate) all: bool,
    /// Only say what would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print one JSON object instead; needs --yes or --dry-run
    #[arg(long)]
    pub(crate) json: bool,
}

/// Serve a simulator of the Messages API, to test agents without a model
///
/// As strict as the API: requests it would refuse are refused in its words, the prompt cache hits where it would hit, and
/// the books say what it would have cost. Speaks POST /v1/messages, /v1/messages/count_tokens, /v1/chat/completions and
/// GET /v1/models, and is steered over /sim/clock, /sim/books, /sim/faults and /sim/evict. Any API key is good. The first
/// line on stdout is `listening on http://ADDR:PORT`. Ends on Ctrl-C or SIGTERM. More in docs/simulator.md.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Exit codes: 0 ended by a signal, 2 cannot start.

Examples:
  longhaul sim
  ANTHROPIC_BASE_URL=http://127.0.0.1:7411 ANTHROPIC_API_KEY=any claude
  OPENAI_BASE_URL=http://127.0.0.1:7411/v1 OPENAI_API_KEY=any my-agent
  longhaul sim --listen 127.0.0.1:0                    a free port, told on stdout
  longhaul sim --script turns.jsonl --virtual-time      the same replies each time, time by hand
  longhaul sim --faults 'after 5: 529*2; 1%: reset'    two overloads behind request 5, some resets
  curl -d '{\"advance_ms\":300000}' http://127.0.0.1:7411/sim/clock")]
pub(crate) struct Sim {
    /// Where to listen; port 0 picks a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7411")]
    pub(crate) listen: String,
    /// The model that answers chat completions for models not known here, as gpt-5
    #[arg(long, value_name = "ID", default_value = longhaul_sim::server::Options::MODEL)]
    pub(crate) model: String,
    /// Reply with the turns in this file instead of as an agent would
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Where all chance comes from: the same seed and the same requests give the same replies
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// What goes wrong and when, as in `after 5: 529*2; 1%: reset`
    #[arg(long, value_name = "SPEC")]
    pub(crate) faults: Option<String>,
    /// What the model does wrong, as in `summary:empty*2, tool:forbidden@0.1`
    #[arg(long, value_name = "SPEC")]
    pub(crate) misbehave: Option<String>,
    /// How fast replies come: `fast`, `20ms` between events, or `300ms/20ms` with the first byte held back
    #[arg(long, value_name = "PACE", default_value = "fast")]
    pub(crate) pace: String,
    /// Let time pass only when POST /sim/clock says so
    #[arg(long)]
    pub(crate) virtual_time: bool,
    /// Append a JSON object to this file for every call of a model; without keys and texts
    #[arg(long, value_name = "FILE")]
    pub(crate) json_log: Option<PathBuf>,
}

/// Print a completion script for a shell
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  longhaul completions bash > ~/.local/share/bash-completion/completions/longhaul
  longhaul completions zsh > ~/.zfunc/_longhaul
  longhaul completions fish > ~/.config/fish/completions/longhaul.fish")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Print the manual page, or write all pages into a folder
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  longhaul man | man -l -
  longhaul man --dir ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write longhaul.1 and one page for each subcommand into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

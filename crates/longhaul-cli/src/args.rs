//! The command line: raw flags, as given. Their meaning is resolved in `settings.rs` and by each command.

mod chat;
mod doctor;
mod mcp;
mod replay;
mod savings;
mod serve;
mod wrap;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

pub(crate) use chat::{ChatArgs, InputFormat, OutputFormat, PermissionMode};
pub(crate) use doctor::DoctorArgs;
pub(crate) use mcp::McpArgs;
pub(crate) use replay::{ReplayArgs, TtlArg};
pub(crate) use savings::SavingsArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use wrap::WrapArgs;

/// Examples for the whole program.
macro_rules! examples {
    () => {
        "Examples:
  longhaul chat                         work with an agent in this folder
  longhaul wrap claude                  run another agent through a gateway
  longhaul serve --upstream https://api.anthropic.com   a gateway for any client
  longhaul inspect session.jsonl        what is in this conversation's window
  longhaul inspect ~/.claude/projects   all sessions below a folder
  longhaul inspect 6113e919             a session by its id (or a unique prefix of it)
  longhaul show session.jsonl           what the model sees, block by block
  longhaul recall 6113e919 login bug    find something again in a conversation
  longhaul replay ~/.claude/projects    the cost of sessions under other policies
  longhaul notes 6113e919               the notes about a session
  longhaul compact session.jsonl --output small.jsonl   summarize an old conversation
  longhaul savings                      what the gateway used and saved
  longhaul doctor                       why something does not work
  claude mcp add longhaul -- longhaul mcp               let Claude Code search its old sessions
  longhaul config --explain             every setting and where its value came from"
    };
}

/// Lets an LLM agent's conversation continue indefinitely.
///
/// A model's window is fixed, and an agent fills it within an hour. Longhaul counts what is in the window, clears old tool
/// results, summarizes old turns, restores what the model still needs and keeps the provider's prompt cache warm. `chat` is an
/// agent that works this way, `wrap` runs any other agent this way, `serve` is the gateway that does it, `sim` is a model API to test with,
/// and the other commands look into the transcripts that Claude Code and Longhaul write (JSONL, one entry per line).
#[derive(Debug, Parser)]
#[command(
    name = "longhaul",
    version,
    max_term_width = 100,
    after_help = examples!(),
    after_long_help = concat!(
        "Environment:
  LONGHAUL_HOME        where Longhaul's sessions and config.toml are; by default the user's data folder
  CLAUDE_CONFIG_DIR    where Claude Code's sessions are; by default ~/.claude
  LONGHAUL_LOG_FORMAT  `json` makes every log line a JSON object
  NO_COLOR             no color; CLICOLOR_FORCE=1 always color
  COLUMNS              how wide to write
  Every setting has a variable, too: `longhaul config --explain` names them.

",
        examples!()
    )
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// Flags of every command.
#[derive(Debug, ClapArgs)]
pub(crate) struct GlobalArgs {
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
pub(crate) enum CliCommand {
    Chat(ChatArgs),
    Wrap(WrapArgs),
    Serve(ServeArgs),
    Inspect(InspectArgs),
    Show(ShowArgs),
    Recall(RecallArgs),
    Compact(CompactArgs),
    Replay(ReplayArgs),
    Savings(SavingsArgs),
    Notes(NotesArgs),
    Purge(PurgeArgs),
    Doctor(DoctorArgs),
    Config(ConfigArgs),
    Mcp(McpArgs),
    Sim(SimArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Show what is in a conversation's window, what it costs and how near the limits are
///
/// Reads one transcript, all transcripts below a folder, a session by its id, or standard input (`-`). Damaged files
/// are read as far as they are intact, and problems are listed with line numbers.
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
pub(crate) struct InspectArgs {
    /// A transcript, a folder of transcripts, a session id (or a unique prefix of it), or `-` for standard input
    #[arg(value_name = "FILE|DIR|SESSION-ID")]
    pub(crate) target: PathBuf,
    /// Print one JSON object instead (documented in docs/inspect-json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// List every response, not only the last ones
    #[arg(long)]
    pub(crate) turns: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

/// Show what the model sees: every tool, block of the system prompt and block of the messages, numbered
///
/// Lists what the next request of a session would hold, in the order in which the model reads it, with an estimate of
/// tokens, the cache breakpoints, and what was cleared, stripped or added. `--turn` goes back to an earlier request.
/// Sessions of other programs do not record system prompt and tools; of those, only the messages are shown.
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
pub(crate) struct ShowArgs {
    /// A transcript, a session id (or a unique prefix of it), or `-` for standard input
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

/// Flags that change the window's size and limits.
#[derive(Debug, ClapArgs)]
pub(crate) struct WindowArgs {
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

/// Summarize the older part of a conversation, so that it fits the model's window again
///
/// Only appends to the transcript: a boundary, a summary, and the restored context after them. The summary holds what
/// you said word for word up to a budget, your rules, the files touched and the open todos, whoever wrote the rest of it;
/// the report counts whatever is shortened or left out. Everything that leaves the model's view goes to the archive
/// first, where `longhaul recall` finds it. A model is asked if ANTHROPIC_API_KEY,
/// ANTHROPIC_AUTH_TOKEN or ANTHROPIC_BASE_URL is set or --model is given; otherwise, or if the model fails, the summary
/// is made without a model and without any network. More in docs/compact.md.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Exit codes: 0 done, 1 nothing to do or nothing to gain, 2 cannot, 3 another process has the session
open. With 1, 2 and 3 nothing was changed.

Examples:
  longhaul compact session.jsonl --output small.jsonl
  longhaul compact 6113e919 --preview                      the result, without changing anything
  longhaul compact 6113e919 --keep 10 --report             all but the last ten messages
  longhaul compact 6113e919 --instructions 'Keep the SQL as it is.'
  longhaul compact 6113e919 --undo                         take the last one back"
)]
pub(crate) struct CompactArgs {
    /// A transcript, or a session id (or a unique prefix of it)
    #[arg(value_name = "FILE|SESSION-ID")]
    pub(crate) session: PathBuf,
    /// Summarize only the part before the entry with this uuid (or a unique prefix of it)
    #[arg(long, value_name = "ID", conflicts_with_all = ["from", "keep"])]
    pub(crate) up_to: Option<String>,
    /// Summarize only from the entry with this uuid (or a unique prefix of it) on
    #[arg(long, value_name = "ID", conflicts_with = "keep")]
    pub(crate) from: Option<String>,
    /// Keep the last N messages word for word; more if a tool call and its result would be separated
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Instructions for the model that writes the summary
    #[arg(long, value_name = "TEXT", conflicts_with = "local")]
    pub(crate) instructions: Option<String>,
    /// The model to ask; by default the one that the conversation was held with
    #[arg(long, value_name = "MODEL", conflicts_with = "local")]
    pub(crate) model: Option<String>,
    /// Ask no model
    #[arg(long)]
    pub(crate) local: bool,
    /// Use the summary in this file, as from `--preview --json | jq -r .summary`, and ask no model
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "local", "instructions"])]
    pub(crate) summary: Option<PathBuf>,
    /// Show the summary, what would be lost and what would be saved, and change nothing
    #[arg(long)]
    pub(crate) preview: bool,
    /// Write a whole copy with the new lines to this file, and leave the original as it is
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also print what was lost, kept, restored and left out
    #[arg(long)]
    pub(crate) report: bool,
    /// Take the last compaction back; a second time, the one before
    #[arg(long, conflicts_with_all = ["up_to", "from", "keep", "instructions", "model", "local", "summary", "report"])]
    pub(crate) undo: bool,
    /// Print one JSON object instead (documented in docs/compact.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Change a file of another program, or one that is in use, or replace the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// A TOML file that adds models or overrides their fields
    #[arg(long, value_name = "FILE", help_heading = "Window")]
    pub(crate) models: Option<String>,
    /// The most the window may hold, in tokens; only makes it smaller
    #[arg(long, value_name = "TOKENS", help_heading = "Window")]
    pub(crate) window: Option<String>,
    /// The most a reply may hold, in tokens; only makes it smaller
    #[arg(long, value_name = "TOKENS", help_heading = "Window")]
    pub(crate) max_output: Option<String>,
}

/// Show the settings
///
/// Settings come from defaults, the file LONGHAUL_HOME/config.toml, environment variables and flags; later ones win.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Exit codes: 0 shown, 2 a setting cannot be read or is refused.

Examples:
  longhaul config
  longhaul config --explain
  DISABLE_AUTO_COMPACT=1 longhaul config --explain --json"
)]
pub(crate) struct ConfigArgs {
    /// Also say where each value came from, what it does and which variables set it
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the notes of a session
///
/// Session notes are a Markdown file that is kept up to date while an agent works, so that a compaction needs no model. It may
/// be edited by hand. More in docs/notes.md.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Exit codes: 0 printed, 1 there are none, 2 cannot read.

Examples:
  longhaul notes 6113e919
  longhaul notes session.jsonl --json | jq -r '.sections[].title'
  longhaul notes 6113e919 --path                       where the file is")]
pub(crate) struct NotesArgs {
    /// A transcript, or a session id (or a unique prefix of it)
    #[arg(value_name = "FILE|SESSION-ID")]
    pub(crate) session: PathBuf,
    /// Print one JSON object instead (documented in docs/notes.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the path of the file, whether it exists or not
    #[arg(long, conflicts_with = "json")]
    pub(crate) path: bool,
}

/// Delete sessions that Longhaul keeps, and say which
///
/// Only deletes below LONGHAUL_HOME/projects; other programs' sessions are never touched. By default, deletes sessions
/// that are older than the setting `retention.days`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Exit codes: 0 deleted, or nothing to delete, 1 not everything could be deleted, 2 cannot.

Examples:
  longhaul purge --older-than 30 --dry-run
  longhaul purge --session 6113e919-67d3-417b-b525-c63700228d19 --yes
  longhaul purge --all --yes"
)]
pub(crate) struct PurgeArgs {
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

/// Find something again in a conversation, whether the model still sees it or not
///
/// Searches messages, tool calls and their results, and summaries, and says for each match whether it is still in the
/// model's view or was cleared or summarized. The first search of a session builds an index of it under LONGHAUL_HOME,
/// later ones add what is new. More in docs/recall.md.
#[derive(Debug, ClapArgs)]
#[command(
    group(clap::ArgGroup::new("what").required(true).args(["query", "id", "path"])),
    override_usage = "longhaul recall [OPTIONS] <FILE|SESSION-ID> <QUERY...|--id <ID>|--path <PATH>>",
    after_help = "Searches for all words together, \"words in double quotes\" as a phrase; the last word may be incomplete.

Exit codes: 0 found, 1 nothing found, 2 cannot read.

Examples:
  longhaul recall 6113e919 cache miss
  longhaul recall session.jsonl '\"cannot borrow\" main.rs'
  longhaul recall 6113e919 --path src/main.rs           what was read from and written to a file
  longhaul recall 6113e919 --id toolu_01Qx5            one match whole, as the others name it
  longhaul recall 6113e919 cache --limit 50 --json"
)]
pub(crate) struct RecallArgs {
    /// A transcript, or a session id (or a unique prefix of it)
    #[arg(value_name = "FILE|SESSION-ID")]
    pub(crate) session: PathBuf,
    /// The words to find
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Show the item with this id: a tool call with its result, or a message
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Find what was done with this file; the end of its path is enough
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// The most matches to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Rebuild the index from the transcript
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Print one JSON object instead (documented in docs/recall.md)
    #[arg(long)]
    pub(crate) json: bool,
}

/// Serve a simulator of the Messages API, to test agents without a model
///
/// As strict as the API: requests it would refuse are refused in its words, the prompt cache hits where it would hit,
/// and the usage log says what it would have cost. Speaks POST /v1/messages, /v1/messages/count_tokens,
/// /v1/chat/completions and GET /v1/models, and is controlled over /sim/clock, /sim/books, /sim/faults and /sim/evict.
/// Any API key is accepted. The first line on stdout is `listening on http://ADDR:PORT`. Ends on Ctrl-C or SIGTERM.
/// More in docs/simulator.md.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Exit codes: 0 ended by a signal, 2 cannot start.

Examples:
  longhaul sim
  ANTHROPIC_BASE_URL=http://127.0.0.1:7411 ANTHROPIC_API_KEY=any claude
  OPENAI_BASE_URL=http://127.0.0.1:7411/v1 OPENAI_API_KEY=any my-agent
  longhaul sim --listen 127.0.0.1:0                    a free port, printed on stdout
  longhaul sim --script turns.jsonl --virtual-time      the same replies each time, time by hand
  longhaul sim --faults 'after 5: 529*2; 1%: reset'    two overloads after request 5, some resets
  curl -d '{\"advance_ms\":300000}' http://127.0.0.1:7411/sim/clock")]
pub(crate) struct SimArgs {
    /// Where to listen; port 0 picks a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7411")]
    pub(crate) listen: String,
    /// The model that answers chat completions for models that are not known here, such as gpt-5
    #[arg(long, value_name = "ID", default_value = longhaul_sim::server::SimServerOptions::MODEL)]
    pub(crate) model: String,
    /// Reply with the turns in this file instead of as an agent would
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// The source of all randomness: the same seed and the same requests give the same replies
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// What goes wrong and when, as in `after 5: 529*2; 1%: reset`
    #[arg(long, value_name = "SPEC")]
    pub(crate) faults: Option<String>,
    /// What the model does wrong, as in `summary:empty*2, tool:forbidden@0.1`
    #[arg(long, value_name = "SPEC")]
    pub(crate) misbehave: Option<String>,
    /// How fast replies come: `fast`, `20ms` between events, or `300ms/20ms` with a delay of the first byte
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
#[command(after_help = "Exit codes: 0 printed, 2 no such shell, or cannot write.

Examples:
  longhaul completions bash > ~/.local/share/bash-completion/completions/longhaul
  longhaul completions zsh > ~/.zfunc/_longhaul
  longhaul completions fish > ~/.config/fish/completions/longhaul.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Print the manual page, or write all pages into a folder
#[derive(Debug, ClapArgs)]
#[command(after_help = "Exit codes: 0 printed or written, 2 cannot write.

Examples:
  longhaul man | man -l -
  longhaul man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write longhaul.1 and one page for each subcommand into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

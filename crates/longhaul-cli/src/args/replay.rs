//! The flags of `longhaul replay`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// Show what recorded sessions would have cost under other policies, windows and models
///
/// Sends recorded sessions again, on paper: as recorded, with nothing ever removed (append-only), with the thresholds
/// alone (off), with results cleared when it pays (clear), with summaries when they pay, too (full), and with the best
/// schedule that was possible in hindsight (best). Uses recorded usage, times and sizes, asks no model and needs no
/// network. More in docs/replay.md.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Exit codes: 0 fine, 1 some sessions were damaged or excluded from the totals, 2 cannot read.

Examples:
  longhaul replay session.jsonl
  longhaul replay ~/.claude/projects --html replay.html
  longhaul replay 6113e919 --window 200000 --window 100000
  longhaul replay session.jsonl --model claude-opus-5-5 --ttl 1h
  longhaul replay ~/.claude/projects --gateway --window 200000
  longhaul replay ~/.claude/projects --json | jq .totals.recorded_usd"
)]
pub(crate) struct ReplayArgs {
    /// Transcripts, folders of transcripts, session ids (or unique prefixes of them), or `-` for standard input
    #[arg(value_name = "FILE|DIR|SESSION-ID", required = true)]
    pub(crate) targets: Vec<PathBuf>,
    /// Replay in a window of this many tokens; may be given several times. By default the model's own
    #[arg(long = "window", value_name = "TOKENS")]
    pub(crate) windows: Vec<u64>,
    /// Replay with this model's prices and window instead of the recorded ones
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Replay with this cache lifetime instead of the recorded one
    #[arg(long, value_name = "TTL")]
    pub(crate) ttl: Option<TtlArg>,
    /// Show what `longhaul serve` would have made of them, in front of an agent that never trims
    #[arg(long)]
    pub(crate) gateway: bool,
    /// A TOML file that adds models or overrides their fields
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<String>,
    /// Print one JSON object instead (documented in docs/replay.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write a page with pictures to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Replace the page if the file exists
    #[arg(long, requires = "html")]
    pub(crate) force: bool,
}

/// A cache lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TtlArg {
    /// Five minutes
    #[value(name = "5m")]
    FiveMinutes,
    /// An hour
    #[value(name = "1h")]
    OneHour,
}

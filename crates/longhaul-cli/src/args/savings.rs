//! The flags of `longhaul savings`.

use clap::Args as ClapArgs;
use longhaul_gateway::savings::SavingsGrouping;

/// Show what the gateway used, spent and saved
///
/// Reads the usage log of `longhaul serve` and `longhaul wrap`. What is shown as saved is the least that leaving something
/// out was worth: the cost of summaries, of those that failed, and of writing the cache again is subtracted, so it may be
/// negative. The file is only read, also while a gateway runs. More in docs/savings.md.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Exit codes: 0 shown, 1 nothing is logged for that time, 2 cannot read.

Examples:
  longhaul savings
  longhaul savings --since 7d --by agent
  longhaul savings --since 2026-11-01 --by model
  longhaul savings --since all --json | jq .total.saved_usd"
)]
pub(crate) struct SavingsArgs {
    /// How far back: a number with h, d or w, a date, or `all`
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) since: String,
    /// What a row stands for: `day` (in UTC), `session`, `key`, `model` or `agent`
    #[arg(long, value_name = "WHAT", default_value = "day")]
    pub(crate) by: SavingsGrouping,
    /// The usage log: `sqlite:PATH` or `postgres://…`; by default LONGHAUL_HOME/gateway/books.sqlite
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// A TOML file that adds models or overrides their fields
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<String>,
    /// Print one JSON object instead (documented in docs/savings.md)
    #[arg(long)]
    pub(crate) json: bool,
}

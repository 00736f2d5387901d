//! The flags of `longhaul doctor`.

use clap::Args as ClapArgs;

/// Find out why something does not work, and say what to do about it
///
/// Looks at LONGHAUL_HOME (permissions, free space, settings), the usage log, the port, gateways that run, keys, the
/// upstream (whether it answers, whether it takes the key, whether the clocks agree), proxy variables, and the agents that
/// `longhaul wrap` knows. Changes nothing, sends no request to a model, and prints no secret. More in docs/doctor.md.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Exit codes: 0 nothing is broken (there may be warnings), 1 something is broken, 2 cannot look.

Examples:
  longhaul doctor
  longhaul doctor claude                     as `longhaul wrap claude` would find it
  longhaul doctor --offline                  without any network checks
  longhaul doctor --json | jq '.findings[] | select(.state == \"broken\")'"
)]
pub(crate) struct DoctorArgs {
    /// Look at what this agent needs; by default at all agents that are installed
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// The API to ask; by default those of the agent, or Anthropic's
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// The address that `longhaul serve` would listen on
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8787")]
    pub(crate) listen: String,
    /// The usage log, as for `longhaul serve`
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// Skip all network checks
    #[arg(long)]
    pub(crate) offline: bool,
    /// Print one JSON object instead (documented in docs/doctor.md)
    #[arg(long)]
    pub(crate) json: bool,
}

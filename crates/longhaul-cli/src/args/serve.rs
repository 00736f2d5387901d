//! The flags of `longhaul serve`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser};
use longhaul_gateway::breakpoints::BreakpointMode;

use crate::failure::CliError;

/// Serve a gateway in front of a model API: any client, in any language, by changing one URL
///
/// Conversations are recognized by their messages and kept within the model's window: old tool results are cleared and
/// old turns are summarized, ahead of time, with the caller's key. Clients notice nothing and keep sending everything.
/// What needs no change is passed on byte for byte, streams as they come; `--policy observe` changes nothing at all.
/// Each call is logged with its tokens, its cost and what happened to the prompt cache; the page at `/` shows it.
/// Speaks POST /v1/messages and /v1/chat/completions; all other paths are passed on too. Keys go to the upstream and
/// are never stored. The first line on stdout is `listening on http://ADDR:PORT`. Ends on Ctrl-C or SIGTERM, when
/// requests in flight have finished. More in docs/gateway.md.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Exit codes: 0 ended by a signal, 2 cannot start.

Environment:
  LONGHAUL_GATEWAY_TOKEN         the token for seeing sessions and counters; needed beyond this machine
  LONGHAUL_GATEWAY_CLIENT_TOKEN  the token that clients must send as x-longhaul-token

Examples:
  longhaul serve                                       with a simulated model
  longhaul serve --upstream https://api.anthropic.com
  ANTHROPIC_BASE_URL=http://127.0.0.1:8787 claude
  longhaul serve --upstream https://api.openai.com
  OPENAI_BASE_URL=http://127.0.0.1:8787/v1 my-agent
  longhaul serve --policy observe                      usage log and cache watch only: nothing is changed
  longhaul serve --policy 'model=claude-haiku-*:off'   pass these on unread
  longhaul serve --recall                              let the model look up what was summarized
  longhaul serve --store memory --listen 127.0.0.1:0   leave no trace, on a free port
  longhaul serve --store postgres://gateway@db.internal/longhaul?sslmode=verify-full
  curl http://127.0.0.1:8787/longhaul/api/sessions")]
pub(crate) struct ServeArgs {
    /// Where to listen; port 0 picks a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8787")]
    pub(crate) listen: String,
    /// Where requests go: the base URL of an API, or `sim` for a simulated one that needs no network
    #[arg(long, value_name = "URL|sim", default_value = "sim")]
    pub(crate) upstream: String,
    /// Certificate authorities for the upstream, as PEM, in addition to those of the system
    #[arg(long, value_name = "FILE")]
    pub(crate) upstream_ca: Option<PathBuf>,
    /// The variable that holds the token for clients
    #[arg(
        long,
        value_name = "NAME",
        default_value = "LONGHAUL_GATEWAY_CLIENT_TOKEN"
    )]
    pub(crate) client_token_env: String,
    /// Another name, besides this machine's own, under which the gateway may be called, or a web page that may call it,
    /// where it listens on this machine alone
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Where the gateway listens beyond this machine, treat all requests without any key as one client's, who may see
    /// the results of all of them; otherwise their conversations are not recognized
    #[arg(long)]
    pub(crate) share_keyless: bool,
    /// Where the usage log is kept: `sqlite:PATH`, `postgres://…` or `memory`; by default
    /// LONGHAUL_HOME/gateway/books.sqlite
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// What is done (`manage`, `observe`, `off`) with which requests, as in `model=claude-haiku-*:off` or just
    /// `observe`; the first rule that matches decides, otherwise `manage`
    #[arg(long, value_name = "RULE")]
    pub(crate) policy: Vec<String>,
    /// A file with more such rules, tried after the flags; by default LONGHAUL_HOME/gateway.toml if it exists
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// A tool that can be run again, so that its results may be cleared, in addition to those of known agents; may end
    /// in `*`
    #[arg(long, value_name = "TOOL")]
    pub(crate) clearable: Vec<String>,
    /// Keep session notes for each conversation, to replace its older turns when the window is full: then no summary is
    /// requested, but notes are, with the caller's key, as the conversation grows
    #[arg(long)]
    pub(crate) notes: bool,
    /// Offer the model one more tool in conversations that begin with tools, to look up what was cleared or summarized;
    /// its calls are answered from the client's own history, and the client sees nothing of them
    #[arg(long)]
    pub(crate) recall: bool,
    /// Name sessions on the page by hashes alone: no first words of conversations are kept for it, and no summary is shown
    #[arg(long)]
    pub(crate) hashes: bool,
    /// What is decided by price: `off`, nothing; `clear`: old tool results are cleared when sending them again has cost as
    /// much as clearing them; `full`: conversations are summarized by the same rule, too. By default `clear`
    #[arg(long, value_name = "off|clear|full")]
    pub(crate) economy: Option<String>,
    /// How tool results are made smaller before they are first sent: `off`; `exact`: what is in view already becomes a
    /// pointer or what changed; `recallable`: of an oversized result only parts are sent, too. By default `exact`
    #[arg(long, value_name = "off|exact|recallable")]
    pub(crate) reduce: Option<String>,
    /// The most the window may hold, in tokens; only makes it smaller
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<String>,
    /// A TOML file that adds models or overrides their fields
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<String>,
    /// Whose cache breakpoints are sent to the Messages API: `keep`: the client's; `manage`: the gateway places them
    #[arg(long, value_name = "keep|manage", default_value = "keep")]
    pub(crate) marks: BreakpointMode,
    /// The largest request body, in bytes
    #[arg(long, value_name = "BYTES", help_heading = "Limits", value_parser = body_size)]
    pub(crate) max_body: Option<usize>,
    /// The most memory that requests in flight and everything that is remembered may take together: bytes, or a number
    /// with KiB, MiB or GiB; by default 1GiB. Further requests are told to try again
    #[arg(long, value_name = "SIZE", help_heading = "Limits", value_parser = memory_size)]
    pub(crate) max_memory: Option<usize>,
    /// The most requests at once; further ones are told to try again
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_requests: Option<u32>,
    /// How long to wait for the next bytes of an answer, in seconds
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    pub(crate) idle: Option<u64>,
    /// How long requests in flight may take when the gateway is told to end, in seconds
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    pub(crate) drain: Option<u64>,
    /// The number of serving threads; by default one per core
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

impl ServeArgs {
    /// The flags as they are when none is given.
    pub(crate) fn usual() -> Result<Self, CliError> {
        #[derive(Debug, Parser)]
        struct OnlyServe {
            #[command(flatten)]
            serve: ServeArgs,
        }
        let none: [&str; 1] = ["serve"];
        let parsed = OnlyServe::try_parse_from(none);
        parsed
            .map(|only| only.serve)
            .map_err(|error| CliError::Runtime(std::io::Error::other(error.to_string())))
    }
}

/// The least memory that is useful.
const LEAST_MEMORY: usize = 16 << 20;

/// Reads a number of bytes that lets something through.
fn body_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("it is a number of bytes from 1 on".to_owned()),
        Ok(bytes) => Ok(bytes),
    }
}

/// Reads a size: bytes, or a number with a unit.
fn memory_size(text: &str) -> Result<usize, String> {
    let split = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let factor = match unit.trim() {
        "" | "B" => Some(1),
        "K" | "KiB" => Some(1 << 10),
        "M" | "MiB" => Some(1 << 20),
        "G" | "GiB" => Some(1_usize << 30),
        _ => None,
    };
    let bytes = number.parse::<usize>().ok().zip(factor);
    let bytes = bytes.and_then(|(number, factor)| number.checked_mul(factor));
    match bytes {
        None => Err("write it as 1GiB, 512MiB or a number of bytes".to_owned()),
        Some(bytes) if bytes < LEAST_MEMORY => Err("16MiB is the least".to_owned()),
        Some(bytes) => Ok(bytes),
    }
}

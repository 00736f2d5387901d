//! What is written down.

use jiff::Timestamp;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use serde::Serialize;

use crate::branch::{HistoryChain, LineId, SessionId, Tenant};

/// One entry of the books.
#[derive(Debug, Clone)]
pub enum UsageLogRecord {
    /// A line began or went on.
    Line(BranchRecord),
    /// A call ended.
    Call(Option<LineId>, Box<CallRecord>),
    /// A key turned out to belong to an organisation: what was the key's is the organisation's.
    Tenant(Tenant, Tenant),
}

/// Where a line stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchRecord {
    /// Which.
    pub line: LineId,
    /// Whose.
    pub tenant: Tenant,
    /// What it belongs to.
    pub session: SessionId,
    /// The line it branched from.
    pub parent: Option<LineId>,
    /// Its head.
    pub chain: HistoryChain,
    /// The model last asked for.
    pub model: String,
    /// Whether a sub-agent speaks.
    pub agent: bool,
    /// When its newest request came.
    pub seen: Timestamp,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnding {
    /// The answer went through to its end.
    Whole,
    /// The client went away.
    ClientGone,
    /// The upstream broke off, was silent for too long, or could not be reached.
    UpstreamFailed,
}

impl CallEnding {
    /// Its name in the books.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::ClientGone => "client_gone",
            Self::UpstreamFailed => "upstream_failed",
        }
    }

    /// By its name.
    pub fn of(name: &str) -> Self {
        match name {
            "whole" => Self::Whole,
            "client_gone" => Self::ClientGone,
            _ => Self::UpstreamFailed,
        }
    }
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    /// When its request came.
    pub at: Timestamp,
    /// The model asked for.
    pub model: String,
    /// How many messages the request had.
    pub messages: u32,
    /// The status that the client was given.
    pub status: u16,
    /// How it ended.
    pub ended: CallEnding,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// What the upstream measured; none if it did not say.
    pub usage: Option<Usage>,
    /// What that cost; none if prices are not known.
    pub cost: Option<Usd>,
    /// What the cache watch found, in a sentence.
    pub finding: Option<String>,
    /// Tokens of the client's history that were not sent; none if it was passed on as it came.
    pub saved: u64,
    /// Whether something else was sent for the beginning of the history.
    pub rewritten: bool,
    /// Whether the answer was not heard to its end, so that `usage` is what was known by then, and no more than that.
    pub partial: bool,
}

/// A session with the sums of its calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionRow {
    /// Its id.
    pub session: String,
    /// Whose, as the hash that policies name.
    pub tenant: String,
    /// The model last asked for.
    pub model: String,
    /// How many lines it has.
    pub lines: u64,
    /// How many messages its longest line has.
    pub messages: u64,
    /// How many calls were made.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// Prompt tokens outside the cache.
    pub input_tokens: u64,
    /// Prompt tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Prompt tokens written to the cache.
    pub cache_write_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// What it cost, as far as prices are known.
    pub cost_usd: f64,
    /// How many calls the cache watch had something to say about.
    pub findings: u64,
    /// How many times something smaller was made to stand for its history.
    pub compactions: u64,
    /// Tokens of the client's history that were not sent, in sum.
    pub saved_tokens: u64,
    /// What making those cost, as far as prices are known; not part of the other cost.
    pub summaries_cost_usd: f64,
    /// When its first call was made.
    pub first_seen: Option<Timestamp>,
    /// When its newest was.
    pub last_seen: Option<Timestamp>,
}

/// What a purge deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PurgeCounts {
    /// Lines.
    pub lines: u64,
    /// Calls.
    pub calls: u64,
    /// What stood for beginnings of histories.
    pub rewrites: u64,
}

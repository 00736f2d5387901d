//! The records of the usage log.

use jiff::Timestamp;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use serde::Serialize;

use crate::branch::{BranchId, GatewaySessionId, HistoryChain, Tenant};
use crate::calling_agent::CallingAgent;

/// One record of the usage log.
#[derive(Debug, Clone)]
pub enum UsageLogRecord {
    /// A branch began or was continued.
    Line(BranchRecord),
    /// A call ended.
    Call(Option<BranchId>, Box<CallRecord>),
    /// A key turned out to belong to an organization, which then owns everything of the key.
    Tenant(Tenant, Tenant),
}

/// The current state of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchRecord {
    /// The id of the branch.
    pub line: BranchId,
    /// The tenant that owns it.
    pub tenant: Tenant,
    /// The session that it belongs to.
    pub session: GatewaySessionId,
    /// The branch that it forked from.
    pub parent: Option<BranchId>,
    /// The tip of the branch.
    pub chain: HistoryChain,
    /// The model requested last.
    pub model: String,
    /// Whether it belongs to a sub-agent.
    pub agent: bool,
    /// When its newest request arrived.
    pub seen: Timestamp,
    /// The first words of the user, by which people find it again. `None` if they may not be kept, or were kept with an
    /// earlier request.
    pub title: Option<String>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnding {
    /// The response was passed on to its end.
    Whole,
    /// The client disconnected.
    ClientGone,
    /// The upstream broke off, was silent for too long, or could not be reached.
    UpstreamFailed,
}

impl CallEnding {
    /// The name in the usage log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::ClientGone => "client_gone",
            Self::UpstreamFailed => "upstream_failed",
        }
    }

    /// The ending with this name.
    pub fn of(name: &str) -> Self {
        match name {
            "whole" => Self::Whole,
            "client_gone" => Self::ClientGone,
            _ => Self::UpstreamFailed,
        }
    }
}

/// The record of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    /// When its request arrived.
    pub at: Timestamp,
    /// The requested model.
    pub model: String,
    /// How many messages the request had.
    pub messages: u32,
    /// The status that the client received.
    pub status: u16,
    /// How the call ended.
    pub ended: CallEnding,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// The usage reported by the upstream; `None` if it reported none.
    pub usage: Option<Usage>,
    /// The cost of that usage; `None` if prices are not known.
    pub cost: Option<Usd>,
    /// The finding of the cache watch, in a sentence.
    pub finding: Option<String>,
    /// Tokens of the client's history that were not sent; zero if it was passed on unchanged.
    pub saved: u64,
    /// Whether a compacted prefix was sent.
    pub rewritten: bool,
    /// Whether the response was not read to its end, so that `usage` is only what was known by then.
    pub partial: bool,
    /// Which agent made the call.
    pub caller: CallingAgent,
    /// When its answer began, in milliseconds after the request arrived; `None` if it never did, or if that was not
    /// recorded yet.
    pub began: Option<u64>,
    /// Why it failed, in the upstream's or the gateway's words.
    pub error: Option<String>,
    /// Whether the request was sent with cache breakpoints; `None` for an API that has none.
    pub breakpoints: Option<bool>,
    /// Whose call it was.
    pub origin: CallOrigin,
}

/// Whose call it was, and what answered it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallOrigin {
    /// The hash of the credential that it was made with, which stays when the key turns out to belong to an organization;
    /// `None` if it was not recorded yet.
    pub key: Option<Tenant>,
    /// Whether the gateway made it itself, for a summary or for notes.
    pub own: bool,
    /// Whether the built-in simulator answered it, so that nothing was paid.
    pub simulated: bool,
}

impl CallRecord {
    /// The record of a call whose answer was not read yet: neither its usage nor what follows from that is known.
    pub(crate) fn begun(at: Timestamp, model: String, messages: u32, status: u16) -> Self {
        Self {
            at,
            model,
            messages,
            status,
            ended: CallEnding::Whole,
            millis: 0,
            usage: None,
            cost: None,
            finding: None,
            saved: 0,
            rewritten: false,
            partial: false,
            caller: CallingAgent::default(),
            began: None,
            error: None,
            breakpoints: None,
            origin: CallOrigin::default(),
        }
    }
}

/// A session with the totals of its calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionRow {
    /// The id of the session.
    pub session: String,
    /// The tenant that owns it, as the hash that policies use.
    pub tenant: String,
    /// The model requested last.
    pub model: String,
    /// The agent that made its newest call, if it is known.
    pub client: Option<String>,
    /// The first words of the user, if they were kept.
    pub title: Option<String>,
    /// How many branches it has.
    pub lines: u64,
    /// How many messages its longest branch has.
    pub messages: u64,
    /// How many calls its client made.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many requests the gateway made itself, for summaries and notes; tokens and cost include them.
    pub own_calls: u64,
    /// Whether the built-in simulator answered, so that nothing was paid.
    pub simulated: bool,
    /// Prompt tokens outside the cache.
    pub input_tokens: u64,
    /// Prompt tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Prompt tokens written to the cache.
    pub cache_write_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// What the provider bills for it, as far as prices are known.
    pub cost_usd: f64,
    /// The part of that for the gateway's own requests.
    pub own_cost_usd: f64,
    /// How many calls have usage without a known price.
    pub unpriced: u64,
    /// How many calls have a finding of the cache watch.
    pub findings: u64,
    /// How many compacted prefixes were made for its history.
    pub compactions: u64,
    /// Total tokens of the client's history that were not sent.
    pub saved_tokens: u64,
    /// What managing cost, as far as prices are known: the gateway's own requests, and writing to the cache again what stays.
    /// It is a part of `cost_usd`.
    pub summaries_cost_usd: f64,
    /// When its first call was made.
    pub first_seen: Option<Timestamp>,
    /// When its newest call was made.
    pub last_seen: Option<Timestamp>,
}

/// What a purge deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PurgeCounts {
    /// How many branches were deleted.
    pub lines: u64,
    /// How many calls were deleted.
    pub calls: u64,
    /// How many compacted prefixes were deleted.
    pub rewrites: u64,
}

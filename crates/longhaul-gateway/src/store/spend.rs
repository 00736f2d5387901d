//! What was spent and left out, in totals that can be added up by day, session, model or agent.

use jiff::Timestamp;
use jiff::civil::Date;

use crate::branch::{GatewaySessionId, Tenant};
use crate::calling_agent::AgentRunId;

/// Which part of the usage log is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpendQuery {
    /// Only what happened since then. Compactions from before that are still in use are charged to the first day, so that
    /// no period seems to have saved what an earlier one paid for.
    pub since: Option<Timestamp>,
    /// Only what happened before then.
    pub until: Option<Timestamp>,
    /// Only the calls of this run, and the compactions of its conversations since then.
    pub run: Option<AgentRunId>,
    /// What the rows tell apart.
    pub detail: SpendDetail,
    /// The most rows; the newest days come first. `None` for all.
    pub most: Option<usize>,
}

/// What the rows of a query tell apart, besides model, agent and tenant. Each of the two multiplies them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpendDetail {
    /// Days and sessions.
    #[default]
    DaysAndSessions,
    /// Days.
    Days,
    /// Sessions; the day is meaningless.
    Sessions,
}

impl SpendDetail {
    /// The expression for the day, given the one that reckons it.
    pub(super) fn day(self, day: &str) -> String {
        match self {
            Self::DaysAndSessions | Self::Days => day.to_owned(),
            Self::Sessions => "CAST(0 AS BIGINT)".to_owned(),
        }
    }

    /// The expression for the session, given the column.
    pub(super) fn session(self, session: &'static str) -> &'static str {
        match self {
            Self::DaysAndSessions | Self::Sessions => session,
            Self::Days => "CAST(NULL AS BIGINT)",
        }
    }
}

impl SpendQuery {
    /// The beginning in milliseconds, as the stores keep times.
    pub(super) fn since_millis(&self) -> i64 {
        self.since.map_or(0, Timestamp::as_millisecond)
    }

    /// The end in milliseconds.
    pub(super) fn until_millis(&self) -> i64 {
        self.until.map_or(i64::MAX, Timestamp::as_millisecond)
    }

    /// The run, as the stores keep it.
    pub(super) fn run_number(&self) -> Option<i64> {
        self.run.map(|run| run.0.cast_signed())
    }
}

/// The totals of one day, session, model and agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SpendRow {
    /// The day, in UTC.
    pub day: Date,
    /// The session; `None` for calls that were not recognized.
    pub session: Option<GatewaySessionId>,
    /// The requested model; empty where the branch of a compaction was deleted.
    pub model: String,
    /// The agent, if it is known.
    pub agent: Option<String>,
    /// The tenant; `None` for calls that were not recognized.
    pub tenant: Option<Tenant>,
    /// The hash of the credential alone; `None` where it was not recorded yet.
    pub key: Option<Tenant>,
    /// Whether the built-in simulator answered, so that nothing was paid.
    pub simulated: bool,
    /// How many calls the clients made.
    pub calls: u64,
    /// How many requests the gateway made itself; tokens and cost include them.
    pub own_calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many of them have usage without a known price.
    pub unpriced: u64,
    /// How many of them were answered without usage.
    pub unmeasured: u64,
    /// Prompt tokens outside the cache.
    pub input: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_write: u64,
    /// Tokens the model wrote.
    pub output: u64,
    /// What the provider bills, as far as prices are known.
    pub cost_usd: f64,
    /// The part of that for the gateway's own requests.
    pub own_cost_usd: f64,
    /// Tokens of the clients' histories that were not sent.
    pub saved_tokens: u64,
    /// How many compactions were made.
    pub compactions: u64,
    /// What compactions and notes cost, as far as prices are known: the gateway's own requests, and writing to the cache
    /// again what stays.
    pub compactions_cost_usd: f64,
}

//! The usage log: what every call cost and what happened to its prompt, per session and in total.
//!
//! Totals are kept forever; the calls themselves only for a while.

mod totals;

pub use totals::UsageTotals;

use std::collections::{BTreeMap, VecDeque};

use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use serde::Serialize;

use crate::cache::PromptVerdict;

/// The session of calls that do not name one.
pub(crate) const NO_SESSION: &str = "-";

/// One logged call.
#[derive(Debug, Clone, Serialize)]
pub struct LoggedCall {
    /// The `request-id` header.
    pub request_id: String,
    /// The id of the message that answered; `None` for a refused call.
    pub message_id: Option<String>,
    /// The session of the call.
    pub session: String,
    /// The requested model.
    pub model: String,
    /// When the call started, in milliseconds of virtual time.
    pub started_ms: u64,
    /// When its answer began, in milliseconds of virtual time.
    pub first_byte_ms: u64,
    /// When its answer ended, in milliseconds of virtual time.
    pub ended_ms: u64,
    /// The HTTP status.
    pub status: u16,
    /// The `stop_reason`, or the kind of error.
    pub outcome: String,
    /// The error message of a refused call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The tokens by class.
    pub tokens: UsageTotals,
    /// What happened to its prompt.
    pub verdict: PromptVerdict,
    /// The first change since the session's previous call that cost cache, in words.
    pub changed: Option<String>,
}

/// The usage of all calls.
#[derive(Debug, Clone, Serialize)]
pub struct SimUsageLog {
    /// The totals of all calls.
    pub total: UsageTotals,
    /// The totals by session.
    pub sessions: BTreeMap<String, UsageTotals>,
    /// The most recent calls, oldest first.
    pub recent: VecDeque<LoggedCall>,
    /// The maximum number of recent calls.
    #[serde(skip)]
    kept: usize,
}

impl SimUsageLog {
    /// Creates an empty log that keeps this many recent calls.
    pub fn new(kept: usize) -> Self {
        Self {
            total: UsageTotals::default(),
            sessions: BTreeMap::new(),
            recent: VecDeque::new(),
            kept,
        }
    }

    /// The number of calls in a session.
    pub fn calls_of(&self, session: &str) -> u64 {
        self.sessions
            .get(session)
            .map_or(0, |account| account.requests)
    }

    /// Adds a call.
    pub fn enter(&mut self, record: LoggedCall) {
        self.total.add(&record.tokens);
        self.sessions
            .entry(record.session.clone())
            .or_default()
            .add(&record.tokens);
        self.recent.push_back(record);
        while self.recent.len() > self.kept {
            self.recent.pop_front();
        }
    }

    /// The last call that was added.
    pub fn last(&self) -> Option<&LoggedCall> {
        self.recent.back()
    }
}

/// The totals of one answered call.
pub(crate) fn answered(usage: &Usage, cost: Option<Usd>) -> UsageTotals {
    let mut account = UsageTotals {
        requests: 1,
        cost_usd: cost.unwrap_or_default(),
        unpriced: u64::from(cost.is_none()),
        ..UsageTotals::default()
    };
    for step in usage.billed() {
        account.input_tokens += step.input;
        account.cache_read_input_tokens += step.cache_read;
        account.cache_write_5m_input_tokens += step.cache_write_5m;
        account.cache_write_1h_input_tokens += step.cache_write_1h;
        account.output_tokens += step.output;
    }
    account.settle();
    account
}

/// The totals of one refused call.
pub(crate) fn refused() -> UsageTotals {
    UsageTotals {
        requests: 1,
        errors: 1,
        ..UsageTotals::default()
    }
}

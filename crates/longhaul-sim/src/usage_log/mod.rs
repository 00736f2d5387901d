//! The books: what every call cost and what became of its prompt, per session and in all.
//!
//! Sums are kept for ever; the calls themselves only for a while.

mod totals;

pub use totals::UsageTotals;

use std::collections::{BTreeMap, VecDeque};

use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use serde::Serialize;

use crate::cache::PromptVerdict;

/// The session of calls that name none.
pub const NO_SESSION: &str = "-";

/// One call as it is kept.
#[derive(Debug, Clone, Serialize)]
pub struct LoggedCall {
    /// `request-id`.
    pub request_id: String,
    /// The message that answered; none for a refused call.
    pub message_id: Option<String>,
    /// Its session.
    pub session: String,
    /// The model asked for.
    pub model: String,
    /// When it started, in milliseconds of virtual time.
    pub started_ms: u64,
    /// When its answer began.
    pub first_byte_ms: u64,
    /// When its answer ended.
    pub ended_ms: u64,
    /// HTTP status.
    pub status: u16,
    /// `stop_reason`, or the kind of error.
    pub outcome: String,
    /// What a refused call was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Tokens by class.
    pub tokens: UsageTotals,
    /// What became of its prompt.
    pub verdict: PromptVerdict,
    /// What changed since the session's last call, if that cost cache: the earliest, in words.
    pub changed: Option<String>,
}

/// All books.
#[derive(Debug, Clone, Serialize)]
pub struct SimUsageLog {
    /// Everything.
    pub total: UsageTotals,
    /// By session.
    pub sessions: BTreeMap<String, UsageTotals>,
    /// The last calls, oldest first.
    pub recent: VecDeque<LoggedCall>,
    /// How many of them are kept.
    #[serde(skip)]
    kept: usize,
}

impl SimUsageLog {
    /// Empty books that keep so many calls.
    pub fn new(kept: usize) -> Self {
        Self {
            total: UsageTotals::default(),
            sessions: BTreeMap::new(),
            recent: VecDeque::new(),
            kept,
        }
    }

    /// How many calls a session made.
    pub fn calls_of(&self, session: &str) -> u64 {
        self.sessions
            .get(session)
            .map_or(0, |account| account.requests)
    }

    /// Enters a call.
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

    /// The last call that was entered.
    pub fn last(&self) -> Option<&LoggedCall> {
        self.recent.back()
    }
}

/// An account of one answered call.
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

/// An account of one refused call.
pub(crate) fn refused() -> UsageTotals {
    UsageTotals {
        requests: 1,
        errors: 1,
        ..UsageTotals::default()
    }
}

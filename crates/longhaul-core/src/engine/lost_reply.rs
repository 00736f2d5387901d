//! Replies that are billed and not used: they broke off, were stopped or withheld, or belong to a compaction that came to
//! nothing. Each is recorded in the transcript, so that a resumed session and `inspect` know what it has cost.
//!
//! The record is an entry outside the conversation, without a uuid, as that of notes is: no reader of the conversation
//! takes it for a reply.

use jiff::Timestamp;
use serde_json::json;

use super::compaction_in_progress::CompactionInProgress;
use super::event::Event;
use super::{AfterPersist, Engine, EngineState};
use crate::message::Usage;
use crate::money::Usd;
use crate::window::QuerySource;

/// The type of the entry.
pub(crate) const LOST_REPLY: &str = "reply-lost";

/// Whether lost replies are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LostReplyRecords {
    /// None is recorded.
    Never,
    /// All are recorded, and all records so far are written or being written.
    Written,
    /// There are records among the unwritten lines; they are written as soon as nothing else is in progress.
    Pending,
}

impl CompactionInProgress {
    /// What its requests are for.
    pub(super) fn source(&self) -> QuerySource {
        match self.folding {
            Some(_) => QuerySource::COLLAPSE,
            None => QuerySource::COMPACT,
        }
    }
}

impl Engine {
    /// Reports a lost reply, and records it.
    pub(super) fn reply_lost(&mut self, source: QuerySource, usage: Usage, now: Timestamp) {
        let is_summary = source == QuerySource::COMPACT || source == QuerySource::COLLAPSE;
        let cost = if is_summary {
            self.summary_cost(Some(&usage))
        } else {
            self.config.model.cost_of_reply(&usage)
        };
        self.record_lost_reply(&source, &usage, cost, now);
        let lost = Event::ReplyLost {
            source,
            usage,
            cost,
        };
        self.notify(lost);
    }

    /// Records a lost reply that another event reports.
    pub(super) fn record_lost_reply(
        &mut self,
        source: &QuerySource,
        usage: &Usage,
        cost: Option<Usd>,
        now: Timestamp,
    ) {
        if self.lost_replies == LostReplyRecords::Never {
            return;
        }
        let line = json!({
            "type": LOST_REPLY,
            "sessionId": self.config.identity.session_id,
            "timestamp": format!("{now:.3}"),
            "source": source.as_str(),
            "usage": crate::boundary::usage_value(usage),
            "costUsd": cost.map(|cost| cost.to_f64()),
        });
        self.unwritten.push(line.to_string().into());
        self.lost_replies = LostReplyRecords::Pending;
    }

    /// Writes the records if nothing is in progress that will write them.
    pub(super) fn write_lost_replies(&mut self) {
        if matches!(self.state, EngineState::Idle) && self.lost_replies == LostReplyRecords::Pending
        {
            self.persist(Vec::new(), AfterPersist::Rest);
        }
    }
}

//! How a compaction ends without a result: it was refused, abandoned or cancelled, or the model failed. Nothing was
//! replaced.

use jiff::Timestamp;

use super::compaction_in_progress::{
    CompactionCause, CompactionInProgress, CompactionStage, CompactionTiming,
};
use super::effect::Effect;
use super::event::{CompactFailure, Event};
use super::input::{EffectFailure, OnModelFailure};
use super::result::CallFailure;
use super::{Engine, EngineState};
use crate::plan::{BreakerChange, SummaryWay};
use crate::window::WindowLevel;

impl Engine {
    pub(super) fn not_started(
        &mut self,
        cause: CompactionCause,
        failure: CompactFailure,
        now: Timestamp,
    ) {
        match cause {
            CompactionCause::Manual => self.compact_refused(failure),
            CompactionCause::Threshold | CompactionCause::TooLong | CompactionCause::Price => {
                self.without_compaction(cause, now)
            }
        }
    }

    /// Continues a turn that could not be compacted: below the limit it goes on, but a request that was too long has
    /// failed.
    pub(super) fn without_compaction(&mut self, cause: CompactionCause, now: Timestamp) {
        match cause {
            CompactionCause::Manual => {}
            CompactionCause::Threshold => {
                self.turn.tried = true;
                self.step(now);
            }
            CompactionCause::Price => self.step(now),
            CompactionCause::TooLong => {
                match (self.turn.withheld.take(), self.turn.too_long.take()) {
                    // A reply that ran out of room is better than none.
                    (Some(reply), _) => self.keep_reply(*reply, None, now),
                    (None, Some(failed)) => self.turn_failed(failed),
                    // Nothing was refused yet: the last reply ran out of room, and the next one may find some.
                    (None, None) => {
                        self.turn.tried = true;
                        self.step(now);
                    }
                }
            }
        }
    }

    pub(super) fn compact_refused(&mut self, kind: CompactFailure) {
        let message = sentence(kind).to_owned();
        self.notify(Event::CompactFailed {
            kind,
            message: message.clone(),
        });
        self.fail_compaction(kind, message);
    }

    /// Ends a compaction that failed; nothing was replaced.
    pub(super) fn give_up(
        &mut self,
        mut compaction: CompactionInProgress,
        kind: CompactFailure,
        message: String,
        now: Timestamp,
    ) {
        match compaction.place {
            CompactionTiming::Awaited => {
                self.state = EngineState::Idle;
                self.notify(Event::Phase(None));
            }
            CompactionTiming::Ahead => self.rest_from_preparing(),
        }
        self.notify(Event::CompactFailed {
            kind,
            message: message.clone(),
        });
        let by_itself = compaction.cause != CompactionCause::Manual;
        if let Some(usage) = compaction.usage.take() {
            self.reply_lost(compaction.source(), usage, now);
        }
        // A summary that gains too little is not the model's fault.
        let is_failure = !matches!(
            kind,
            CompactFailure::Cancelled | CompactFailure::Blocked | CompactFailure::WouldNotShrink
        );
        if kind == CompactFailure::WouldNotShrink && compaction.cause == CompactionCause::Threshold
        {
            self.rest_from_thresholds();
        }
        if compaction.cause == CompactionCause::Price {
            self.rest_from_pricing();
        }
        if by_itself && is_failure && self.tracking.failed() == BreakerChange::Now {
            self.notify(Event::BreakerTripped);
        }
        if compaction.place != CompactionTiming::Awaited {
            return;
        }
        if compaction.cause == CompactionCause::Manual {
            return self.fail_compaction(kind, message);
        }
        match (kind, self.turn.withheld.take()) {
            (CompactFailure::Cancelled, Some(reply)) => self.keep_reply(*reply, None, now),
            (CompactFailure::Cancelled, None) => {
                self.fail_call(CallFailure::NotAnswered(EffectFailure::cancelled(message)));
            }
            (_, withheld) => {
                self.turn.withheld = withheld;
                self.without_compaction(compaction.cause, now);
            }
        }
    }

    /// Ends a compaction that cannot make the view smaller; nothing was changed. Below the threshold, the user's words
    /// are never cut for a compaction.
    pub(super) fn refuse_to_cut(&mut self, compaction: CompactionInProgress, now: Timestamp) {
        let kind = CompactFailure::WouldNotShrink;
        let has_room = !self.is_over(&compaction, self.config.window.auto_compact);
        let message = if let Some(message) = self.given_too_long(&compaction) {
            message
        } else if has_room && !self.live.facts().messages().is_empty() {
            "compacting would only cut your own words, and there is room for them; nothing changed"
                .to_owned()
        } else {
            sentence(kind).to_owned()
        };
        self.give_up(compaction, kind, message, now);
    }

    /// Handles a failed model. Where the conversation cannot wait, it is summarized without a model (X9): the window is
    /// full, a request was too long, or no request for a summary can be made short enough.
    pub(super) fn model_failed(
        &mut self,
        mut compaction: CompactionInProgress,
        kind: CompactFailure,
        message: String,
        now: Timestamp,
    ) {
        // A partial summary that was paid for is not discarded in favor of extracts alone.
        if let Some(summary) = self.completed(&mut compaction) {
            self.notify(Event::SummaryCutOff);
            compaction.summary = Some(summary);
            return self.summary_ready(compaction, now);
        }
        let cannot_wait = compaction.cause == CompactionCause::TooLong
            || kind == CompactFailure::PromptTooLong
            || compaction.request.on_failure == OnModelFailure::UseExtracts
            || compaction.cause == CompactionCause::Threshold
                && self.status().level == WindowLevel::Blocking;
        if !cannot_wait || compaction.place == CompactionTiming::Ahead {
            return self.give_up(compaction, kind, message, now);
        }
        self.notify(Event::CompactFailed { kind, message });
        if compaction.cause != CompactionCause::Manual
            && self.tracking.failed() == BreakerChange::Now
        {
            self.notify(Event::BreakerTripped);
        }
        compaction.way = SummaryWay::Local;
        self.begin_summary(compaction, now);
    }

    /// Stops what is in progress, on the user's request.
    pub(super) fn cancel(&mut self, now: Timestamp) {
        match std::mem::replace(&mut self.state, EngineState::Idle) {
            EngineState::Compacting(mut compaction)
                if compaction.stage != CompactionStage::PostHooks =>
            {
                if let Some(id) = compaction.awaits.take() {
                    self.outbox.push_back(Effect::Cancel { id });
                }
                self.compaction_cancelled(*compaction, now);
            }
            EngineState::Sending(id, call) => {
                self.watch.failed(call);
                self.outbox.push_back(Effect::Cancel { id });
                self.turn_cancelled();
            }
            // Lines that are being written will reach the disk; nothing follows from them.
            other @ (EngineState::Persisting(..) | EngineState::Archiving(..)) => {
                self.state = other;
                self.cancelled = true;
            }
            other => self.state = other,
        }
    }

    /// Whether the host has cancelled its call in the meantime. It is checked once, because the call ends with it.
    pub(super) fn is_cancelled(&mut self) -> bool {
        std::mem::take(&mut self.cancelled)
    }

    pub(super) fn turn_cancelled(&mut self) {
        self.turn_failed(EffectFailure::cancelled("canceled"));
    }

    pub(super) fn compaction_cancelled(
        &mut self,
        compaction: CompactionInProgress,
        now: Timestamp,
    ) {
        let message = sentence(CompactFailure::Cancelled).to_owned();
        self.give_up(compaction, CompactFailure::Cancelled, message, now);
    }
}

/// The message for people.
pub(super) fn sentence(kind: CompactFailure) -> &'static str {
    match kind {
        CompactFailure::Empty => "there is nothing to compact: the conversation is empty",
        CompactFailure::NothingNew => {
            "there is nothing to compact: nothing was said since the last compaction"
        }
        CompactFailure::NoPivot => {
            "there is nothing to compact on that side of the message, or it is not in the conversation"
        }
        CompactFailure::Blocked => "a hook blocked the compaction",
        CompactFailure::Cancelled => "the compaction was canceled; nothing was changed",
        CompactFailure::SwitchedOff => {
            "compaction is switched off (compaction.enabled, DISABLE_COMPACT)"
        }
        CompactFailure::NoSummary => "the model wrote no summary",
        CompactFailure::Refused => "the model declined to summarize the conversation",
        CompactFailure::ApiError => "the provider failed",
        CompactFailure::PromptTooLong => {
            "the conversation is too long to be summarized by this model"
        }
        CompactFailure::WouldNotShrink => {
            "compacting would not make the conversation smaller; nothing was changed"
        }
        CompactFailure::NotPersisted => "the compaction could not be written",
        CompactFailure::UnderWay => "something else is still under way: compact when it is done",
    }
}

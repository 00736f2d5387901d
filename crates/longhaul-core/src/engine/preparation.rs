//! A summary that is prepared while the conversation goes on (X5): requested ahead of the threshold, swapped in between
//! turns.
//!
//! It summarizes what was sent when it was requested; everything since is kept word for word. It is dropped unless the
//! view it was made from is still the beginning of the conversation.

use jiff::Timestamp;

use super::compaction_in_progress::{
    AfterCompaction, CompactionCause, CompactionInProgress, CompactionStage, CompactionTiming,
};
use super::effect::Effect;
use super::effect_id::EffectId;
use super::event::{CompactionPhase, Event, PreparationEvent};
use super::input::{CompactRequest, EffectOutcome, NotesOnDisk};
use super::{Engine, EngineState, PrefixRecording, SummarizerSetting, SummaryTiming, longest_lead};
use crate::economy::EconomyPolicy;
use crate::notes::NotesPlan;
use crate::plan::{Breaker, SummaryWay, least_freed, rest_after_failure};
use crate::summary::{CompactionScope, PivotDirection};
use crate::window::guards::guard;
use crate::window::{ProactiveGuard, SwitchVerdict, SwitchableAction, WindowLevel};

/// The state of the preparation.
#[derive(Debug, Default)]
pub(super) struct SummaryPreparation {
    /// The compaction that runs in the background, or is ready.
    pub(super) compaction: Option<Box<CompactionInProgress>>,
    /// The notes are being read to see whether they are sufficient.
    checking: Option<EffectId>,
    /// Nothing is prepared before the window holds this many tokens.
    rest: u64,
    /// A threshold triggers nothing before the window holds this many tokens: its last compaction freed too little.
    poor: u64,
}

/// The state of the preparation when the threshold is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreparationState {
    Nothing,
    UnderWay,
    Ready,
}

impl Engine {
    /// Takes an outcome if it belongs to the preparation; returns any other outcome.
    pub(super) fn prepared_done(
        &mut self,
        id: EffectId,
        outcome: EffectOutcome,
        now: Timestamp,
    ) -> Option<EffectOutcome> {
        if self.ahead.checking == Some(id) {
            self.ahead.checking = None;
            self.checked(outcome, now);
            return None;
        }
        let compaction = &mut self.ahead.compaction;
        match compaction.take_if(|compaction| compaction.awaits == Some(id)) {
            Some(compaction) => {
                self.compaction_goes_on(*compaction, outcome, now);
                None
            }
            None => Some(outcome),
        }
    }

    /// Starts to prepare after a reply, if it is time.
    pub(super) fn prepare_if_due(&mut self, now: Timestamp) {
        let busy = self.ahead.compaction.is_some() || self.ahead.checking.is_some();
        let used = self.used();
        if busy || used < self.ahead.rest || !self.may_prepare() {
            return;
        }
        if !self.is_threshold_near() {
            return;
        }
        if self.policy() != EconomyPolicy::Off
            && (self.notes_in_use() && self.takes_notes(now) || !self.preparation_is_earned(now))
        {
            return;
        }
        if self.notes_in_use() {
            let id = self.effect_id();
            self.outbox.push_back(Effect::ReadNotes { id });
            self.ahead.checking = Some(id);
        } else {
            self.prepare(now)
        }
    }

    /// Whether the threshold may be reached while a summary is written.
    pub(super) fn is_threshold_near(&self) -> bool {
        let threshold = if self.folds() {
            self.fold_limits().commit_at
        } else {
            self.config.window.auto_compact
        };
        let lead = self.growth.lead(longest_lead(threshold));
        // What is made early keeps more word for word, and that is paid for with each request. The conversation may go
        // on between the threshold and the limit, so by price half of that is used, too.
        let wall = match self.policy() {
            EconomyPolicy::Off => threshold,
            _ => threshold + self.config.window.blocking.saturating_sub(threshold) / 2,
        };
        self.used() + lead >= wall
    }

    /// Whether summaries are prepared at all.
    pub(super) fn may_prepare(&self) -> bool {
        let config = &self.config;
        let wanted = match guard(&config.source, config.owner) {
            ProactiveGuard::Clear => {
                config.preparation == SummaryTiming::Ahead
                    && config.summarizer == SummarizerSetting::Ours
            }
            ProactiveGuard::CollapseOwns => self.folds(),
            _ => false,
        };
        wanted
            && config.prefixes == PrefixRecording::Written
            && config.switches.decide(SwitchableAction::Automatic) == SwitchVerdict::Allowed
            && self.tracking.breaker() == Breaker::Closed
            && self.assembly.is_some()
            && self.outdated.is_none()
    }

    /// Takes the notes that were read: if they are sufficient, nothing has to be prepared.
    fn checked(&mut self, outcome: EffectOutcome, now: Timestamp) {
        let notes = match outcome {
            EffectOutcome::NotesRead(notes) => *notes,
            _ => NotesOnDisk::default(),
        };
        let wanted = matches!(self.notes_plan(&notes), NotesPlan::NotApplicable(_));
        if wanted && self.may_prepare() && self.ahead.compaction.is_none() {
            self.prepare(now);
        }
    }

    /// Starts to prepare.
    fn prepare(&mut self, now: Timestamp) {
        let compaction = if self.folds() {
            self.folding(self.worth_folding(), now)
        } else {
            self.sent_scope().map(|scope| {
                let whole = (scope, Some(PivotDirection::UpTo));
                let request = CompactRequest::default();
                self.compaction(
                    CompactionCause::Threshold,
                    SummaryWay::Model,
                    request,
                    whole,
                    now,
                )
            })
        };
        if let Some(mut compaction) = compaction {
            compaction.place = CompactionTiming::Ahead;
            self.notify(Event::Ahead(PreparationEvent::Begun));
            self.run_pre_hooks(compaction);
        }
    }

    /// The scope of everything that was sent: a fork after it reads the cache to its end.
    fn sent_scope(&self) -> Option<CompactionScope> {
        let last = self.assembly.as_ref()?.last_entry()?;
        let pieces = self.live.pieces();
        let mut views = self.live.views();
        let sent = views.position(|entry| entry.uuid() == Some(last))? + 1;
        let scope = CompactionScope::partial(&pieces, sent, PivotDirection::UpTo);
        let worth_it = scope.messages(&pieces) > 0 && self.something_new(&pieces, &scope).is_ok();
        worth_it.then_some(scope)
    }

    /// Handles a reached threshold. A prepared summary is swapped in; while one is being prepared, the conversation
    /// goes on as long as there is room. Returns whether that is enough.
    pub(super) fn settle_by_preparation(&mut self, now: Timestamp) -> bool {
        match self.prepared() {
            PreparationState::Nothing => false,
            PreparationState::Ready => {
                self.swap_in(now);
                true
            }
            PreparationState::UnderWay if self.status().level < WindowLevel::Blocking => {
                self.turn.tried = true;
                self.step(now);
                true
            }
            PreparationState::UnderWay => {
                self.take_over(now);
                true
            }
        }
    }

    pub(super) fn prepared(&self) -> PreparationState {
        match &self.ahead.compaction {
            None => PreparationState::Nothing,
            Some(compaction) if compaction.stage == CompactionStage::Ready => {
                PreparationState::Ready
            }
            Some(_) => PreparationState::UnderWay,
        }
    }

    /// Makes the conversation wait for the preparation from now on.
    pub(super) fn take_over(&mut self, now: Timestamp) {
        if let Some(mut compaction) = self.ahead.compaction.take() {
            compaction.take_place(now);
            self.notify(Event::Phase(Some(CompactionPhase::Compacting)));
            self.hold(*compaction);
        }
    }

    /// Replaces the summarized part by the prepared summary.
    pub(super) fn swap_in(&mut self, now: Timestamp) {
        if let Some(mut compaction) = self.ahead.compaction.take() {
            compaction.take_place(now);
            self.summary_ready(*compaction, now);
        }
    }

    /// Also keeps everything that came since the preparation began. Returns whether the cut is still valid.
    pub(super) fn caught_up(&self, compaction: &mut CompactionInProgress) -> bool {
        let cut = compaction.scope.summarized.end;
        let scope = CompactionScope::partial(&self.live.pieces(), cut, PivotDirection::UpTo);
        // A late result may have connected both sides.
        let holds = scope.summarized == compaction.scope.summarized;
        compaction.scope = scope;
        compaction.used = self.used();
        compaction.before = self.view_size();
        holds
    }

    /// Drops the prepared summary, because another view begins.
    pub(super) fn drop_prepared(&mut self, now: Timestamp) {
        self.ahead.checking = None;
        if let Some(mut compaction) = self.ahead.compaction.take() {
            let awaited = compaction.awaits;
            self.outbox.extend(awaited.map(|id| Effect::Cancel { id }));
            if let Some(usage) = compaction.usage.take() {
                self.reply_lost(compaction.source(), usage, now);
            }
            self.notify(Event::Ahead(PreparationEvent::Dropped));
        }
    }

    /// Pauses after a failed preparation. The conversation goes on; a turn that reaches the threshold tries again.
    pub(super) fn rest_from_preparing(&mut self) {
        self.ahead.compaction = None;
        self.ahead.rest = self.used() + rest_after_failure(&self.config.window);
    }

    /// Pauses after a compaction: nothing is prepared again before the next one can be worth its price.
    pub(super) fn rest_after_compaction(&mut self) {
        self.ahead.rest = self.used() + least_freed(&self.config.window);
    }

    /// Pauses after a compaction that would free too little: the next turn would give the same result.
    pub(super) fn rest_from_thresholds(&mut self) {
        self.ahead.poor = self.used() + least_freed(&self.config.window);
        self.ahead.rest = self.ahead.rest.max(self.ahead.poor);
    }

    /// Shortens the pauses after the window was made smaller: it grows from there again.
    pub(super) fn rest_from_here(&mut self) {
        let most = self.used() + least_freed(&self.config.window);
        self.ahead.poor = self.ahead.poor.min(most);
        self.ahead.rest = self.ahead.rest.min(most);
    }

    /// Whether a threshold's last compaction failed to free enough and the window has hardly grown since. A full window
    /// does not wait.
    pub(super) fn rests_from_thresholds(&self) -> bool {
        let status = self.status();
        status.used < self.ahead.poor && status.level < WindowLevel::Blocking
    }

    /// Asks a model: the conversation goes on in the meantime if there is room, else it waits.
    pub(super) fn ask_model(&mut self, mut compaction: CompactionInProgress, now: Timestamp) {
        let goes_on = compaction.cause == CompactionCause::Threshold
            && compaction.way == SummaryWay::Model
            && self.ahead.compaction.is_none()
            && self.used() >= self.ahead.rest
            && self.status().level < WindowLevel::Blocking
            && self.may_prepare();
        let scope = if goes_on { self.sent_scope() } else { None };
        let Some(scope) = scope else {
            return self.begin_summary(compaction, now);
        };
        compaction.scope = scope;
        compaction.direction = Some(PivotDirection::UpTo);
        compaction.place = CompactionTiming::Ahead;
        self.state = EngineState::Idle;
        self.notify(Event::Phase(None));
        self.notify(Event::Ahead(PreparationEvent::Begun));
        self.begin_summary(compaction, now);
        self.turn.tried = true;
        self.after_compaction(AfterCompaction::GoOn, now);
    }
}

//! Collapse mode in the engine (O6): the oldest spans are folded in the background, the folds are committed between
//! turns from 90 % of the window on, and turns wait for them from 95 % on.
//!
//! A fold is a compaction up to a cut whose summary consists of folds. `collapse/` chooses the spans and has the prompt
//! and the parser; `preparation.rs` runs it in the background.

use jiff::Timestamp;

use super::Engine;
use super::compaction_in_progress::{CompactionCause, CompactionInProgress, CompactionTiming};
use super::event::{CompactionPhase, Event, PreparationEvent, Summarizer};
use super::fold_in_progress::FoldInProgress;
use super::input::{CompactRequest, SummaryReply};
use super::preparation::PreparationState;
use super::sizes::prefix_weight;
use crate::collapse::{
    self, EarlierFolds, Fold, FoldLimits, FoldPrompt, FoldSpan, Folds, RequestedFolds,
};
use crate::message::EntryView;
use crate::plan::{Breaker, SummaryWay};
use crate::summary::{CompactionScope, PivotDirection, Summary, SummaryFailure};
use crate::window::{SwitchVerdict, SwitchableAction, WindowOwner};

impl Engine {
    /// Whether this conversation uses folding.
    pub(super) fn folds(&self) -> bool {
        self.config.owner == WindowOwner::Collapse
            && self.config.switches.decide(SwitchableAction::Collapse) == SwitchVerdict::Allowed
    }

    pub(super) fn fold_limits(&self) -> FoldLimits {
        FoldLimits::of(&self.config.window)
    }

    /// Commits folds that are due before a request. Returns whether the turn waits for something.
    pub(super) fn fold_if_due(&mut self, now: Timestamp) -> bool {
        let (limits, used) = (self.fold_limits(), self.used());
        if self.turn.tried || used < limits.commit_at {
            return false;
        }
        let must_wait = used >= limits.wait_at;
        match self.prepared() {
            PreparationState::Ready => self.swap_in(now),
            PreparationState::UnderWay if must_wait => self.take_over(now),
            PreparationState::UnderWay => return false,
            PreparationState::Nothing => {
                let worth = if must_wait { 1 } else { self.worth_folding() };
                let Some(mut compaction) = self.folding(worth, now) else {
                    // Nothing may be folded. If the provider finds the request too long, everything is summarized (O3).
                    return false;
                };
                let goes_on = !must_wait && self.may_prepare();
                if goes_on {
                    compaction.place = CompactionTiming::Ahead;
                    self.notify(Event::Ahead(PreparationEvent::Begun));
                } else {
                    self.notify(Event::Phase(Some(CompactionPhase::PreCompactHooks)));
                }
                self.run_pre_hooks(compaction);
                return !goes_on;
            }
        }
        true
    }

    /// The tokens that folding must free to be worth a cache miss, while there is room.
    pub(super) fn worth_folding(&self) -> u64 {
        self.config.window.effective / 10
    }

    /// Creates a compaction that folds the oldest spans. Returns none if nothing may be folded, or if it would free
    /// less than it must.
    pub(super) fn folding(&self, must_free: u64, now: Timestamp) -> Option<CompactionInProgress> {
        let limits = self.fold_limits();
        let pieces = self.live.pieces();
        let weights = self.live.weights();
        let first = collapse::first_foldable(self.live.views());
        let chosen = collapse::choose(&pieces, &weights, first, &limits, self.when_due(&limits))?;
        let scope = CompactionScope::partial(&pieces, chosen.cut, PivotDirection::UpTo);
        if scope.summarized.end != chosen.cut || chosen.frees < must_free {
            return None;
        }
        let spans = (chosen.spans.iter())
            .map(|span| FoldSpan::of(self.views_in(span)))
            .collect();
        let folds = self.earlier_folds(first);
        let earlier = if folds.weight() > limits.folds {
            EarlierFolds::Condense
        } else {
            EarlierFolds::Stay
        };
        let way = match self.tracking.breaker() {
            Breaker::Closed => SummaryWay::Model,
            Breaker::Open => SummaryWay::Local,
        };
        let mut compaction = self.compaction(
            CompactionCause::Threshold,
            way,
            CompactRequest::default(),
            (scope, Some(PivotDirection::UpTo)),
            now,
        );
        compaction.folding = Some(Box::new(FoldInProgress {
            chosen,
            spans,
            folds,
            earlier,
            made: None,
        }));
        Some(compaction)
    }

    /// The expected tokens in the window when the folds are committed. The new view is judged by its estimate, so the
    /// estimate counts where it is larger than the measurement.
    fn when_due(&self, limits: &FoldLimits) -> u64 {
        let used = self.used();
        let whole = self.live.ledger().whole() + prefix_weight(&self.prefix);
        used.max(whole.padded()) + limits.commit_at.saturating_sub(used)
    }

    fn views_in(
        &self,
        range: &std::ops::Range<usize>,
    ) -> impl Iterator<Item = EntryView<'_>> + Clone {
        let entries = self.live.entries()[range.clone()].iter();
        entries.map(|kept| kept.entry.view())
    }

    /// The earlier folds; a summary of another kind is the first fold.
    fn earlier_folds(&self, first: usize) -> Folds {
        let views: Vec<EntryView<'_>> = self.views_in(&(0..first)).collect();
        let on_boundary = views
            .iter()
            .rev()
            .find_map(|view| Folds::from_boundary(*view));
        // A summary that the provider signed comes before the message that belongs to it.
        let folds = on_boundary.or_else(|| {
            let mut oldest = views.iter();
            oldest.find_map(|view| Folds::from_summary(*view))
        });
        folds.unwrap_or_default()
    }

    /// The prompt for the model. `kept` is how the first kept message begins, where the model is shown it.
    pub(super) fn fold_prompt(
        &self,
        compaction: &CompactionInProgress,
        folding: &FoldInProgress,
        kept: Option<&str>,
    ) -> String {
        let hooks = compaction.hook_texts();
        collapse::prompt(&FoldPrompt {
            spans: &folding.spans,
            kept,
            earlier: folding.earlier,
            limits: &self.fold_limits(),
            instructions: &self.instructions(compaction, &hooks),
        })
    }

    /// Reads the model's answer.
    pub(super) fn folded(
        &self,
        folding: &mut FoldInProgress,
        reply: &SummaryReply,
    ) -> Result<(Summary, Summarizer), SummaryFailure> {
        let wanted = RequestedFolds {
            spans: folding.spans.len(),
            earlier: folding.earlier,
        };
        let answer = collapse::read(reply.reply(), wanted)?;
        folding.take(answer.condensed.as_deref(), &answer.spans);
        let summary = folding.summary().ok_or(SummaryFailure::Empty)?;
        Ok((summary, Summarizer::Fold))
    }

    /// Folds the spans without a model.
    pub(super) fn fold_locally(&self, folding: &mut FoldInProgress) -> Option<Summary> {
        let limits = self.fold_limits();
        let spans = folding.chosen.spans.iter();
        let spans = spans.map(|span| self.views_in(span));
        let texts = collapse::local(spans, self.live.facts().vocabulary(), &limits);
        let folds = std::mem::take(&mut folding.folds);
        folding.folds = folds.shortened(limits.folds);
        folding.take(None, &texts);
        folding.summary()
    }
}

impl FoldInProgress {
    fn take(&mut self, condensed: Option<&str>, texts: &[String]) {
        let earlier = self.folds.clone();
        let earlier = match condensed {
            Some(text) => earlier.condensed(text),
            None => earlier,
        };
        let new = self.spans.iter().zip(texts);
        let new = new.map(|(span, text)| Fold::new(span, text));
        self.made = Some(earlier.added(new));
    }

    fn summary(&self) -> Option<Summary> {
        Summary::of_extracts(&self.made.as_ref()?.text())
    }
}

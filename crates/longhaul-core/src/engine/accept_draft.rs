//! Decides what becomes of a compaction's draft: it is previewed (Y6), archived to be written, or not good enough, and
//! then a model summarizes everything (S6), or nothing changes. `commit.rs` writes it.

use jiff::Timestamp;

use super::compaction_in_progress::{CompactionCause, CompactionInProgress, CompactionStage};
use super::effect::Effect;
use super::event::{
    CompactFailure, CompactionPhase, Event, PreparationEvent, PreviewedSummary, Summarizer,
};
use super::not_compacted::sentence;
use super::result::CallResult;
use super::user_words_state::UserWordsState;
use super::view_draft::ViewDraft;
use super::{Engine, EngineState};
use crate::micro::native::KeepThinking;
use crate::plan::{CompactionWorth, worth};
use crate::prompt::RequestPrefix;
use crate::summary::PivotDirection;
use crate::window::WindowLevel;

impl Engine {
    /// Chooses the new view, and has the summarized part archived.
    pub(super) fn prepare_commit(&mut self, mut compaction: CompactionInProgress, now: Timestamp) {
        // The part before the pivot stays as it was sent, so the request prefix must stay, too (P2).
        let fresh = compaction.gathered.prefix.take();
        let fresh = fresh.or_else(|| self.next_prefix.clone());
        let keeps_head = compaction.direction == Some(PivotDirection::From);
        let head = fresh
            .filter(|_| !keeps_head)
            .unwrap_or_else(|| self.prefix.clone());
        let head = self.with_engine_additions(head, KeepThinking::All);
        let draft = self.best_draft(&compaction, &head);
        if self.is_provisional(&compaction) && !self.holds(draft.as_ref()) {
            return match compaction.cause {
                // A second summary would not pay.
                CompactionCause::Price => self.refuse_to_cut(compaction, now),
                _ => self.start_over(compaction, now),
            };
        }
        let Some(draft) = draft else {
            return self.refuse_to_cut(compaction, now);
        };
        if !self.is_worth_it(&compaction, &head, &draft) {
            if draft.by == Summarizer::Notes {
                return self.start_over(compaction, now);
            }
            let message = sentence(CompactFailure::WouldNotShrink).to_owned();
            return self.give_up(compaction, CompactFailure::WouldNotShrink, message, now);
        }
        if compaction.request.preview {
            self.notify(Event::Phase(None));
            let cost = self.summary_cost(compaction.usage.as_ref());
            if let Some(usage) = &compaction.usage {
                self.previewed.get_or_insert_default().add(usage);
            }
            let preview = Box::new(PreviewedSummary {
                by: draft.by,
                usage: compaction.usage.take(),
                cost,
                summary: draft.summary.body().to_owned(),
                message: draft.message,
                before: compaction.before,
                after: draft.after,
                window: self.window_after(&compaction, &head, draft.weight),
                report: draft.report,
            });
            self.notify(Event::Preview(preview.clone()));
            return self.finish_call(CallResult::Previewed(preview));
        }
        let id = self.effect_id();
        let gone = &self.live.entries()[compaction.scope.summarized.clone()];
        self.outbox.push_back(Effect::Archive {
            id,
            entries: gone.iter().map(|kept| kept.entry.clone()).collect(),
            results: None,
        });
        compaction.gathered.prefix = Some(head);
        compaction.draft = Some(Box::new(draft));
        compaction.stage = CompactionStage::Archiving;
        compaction.awaits = Some(id);
        self.state = EngineState::Compacting(Box::new(compaction));
    }

    /// Whether a compaction frees enough. Only a compaction that a threshold requested can wait, and not if the window
    /// is full.
    fn is_worth_it(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
        draft: &ViewDraft,
    ) -> bool {
        let can_wait = compaction.cause == CompactionCause::Threshold
            && compaction.folding.is_none()
            && self.status().level < WindowLevel::Blocking;
        let counted = self.as_counted(compaction, head, draft.after);
        let after = counted.map_or(draft.with_head, |after| after.min(draft.with_head));
        let worth = worth(&self.config.window, compaction.used, after);
        !can_wait || worth == CompactionWorth::Enough
    }

    /// Whether a model's summary of everything could still replace this one: it is made of notes, or was made ahead.
    fn is_provisional(&self, compaction: &CompactionInProgress) -> bool {
        let by_notes = matches!(compaction.summary, Some((_, Summarizer::Notes)));
        by_notes || compaction.prepared
    }

    /// Whether a draft has all of the user's words that it may have, and is small enough.
    fn holds(&self, draft: Option<&ViewDraft>) -> bool {
        let threshold = self.config.window.auto_compact;
        draft.is_some_and(|draft| draft.words != UserWordsState::Cut && draft.with_head < threshold)
    }

    /// Summarizes everything, because notes or a summary made ahead leave too much in view (S6). Instead of notes, that
    /// may be made while the conversation goes on, if there is room.
    pub(super) fn start_over(&mut self, mut compaction: CompactionInProgress, now: Timestamp) {
        let summary = compaction.summary.take();
        let is_of_notes = matches!(summary, Some((_, Summarizer::Notes)));
        match summary {
            Some((_, Summarizer::Notes)) => {
                let window = &self.config.window;
                let reason = crate::notes::NotesSkipReason::OverThreshold {
                    after: self.used(),
                    threshold: window.auto_compact,
                };
                self.notify(Event::NotesNotUsed { reason });
            }
            _ => self.notify(Event::Ahead(PreparationEvent::Dropped)),
        }
        compaction.direction = None;
        compaction.folding = None;
        compaction.signed = None;
        compaction.asking = Default::default();
        // From here on it is like any other compaction.
        compaction.prepared = false;
        compaction.scope = crate::summary::CompactionScope::whole(&self.live.pieces());
        self.notify(Event::Phase(Some(CompactionPhase::Compacting)));
        match is_of_notes {
            true => self.ask_model(compaction, now),
            false => self.begin_summary(compaction, now),
        }
    }
}

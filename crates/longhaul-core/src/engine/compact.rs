//! The course of a compaction (F1): hooks, summary, restored context, hooks, boundary, hooks. Nothing is replaced
//! before the boundary is on disk, so until then it can be cancelled at any time.

use jiff::Timestamp;

use super::compaction_in_progress::{
    AfterCompaction, CompactionCause, CompactionInProgress, CompactionStage, CompactionTiming,
    KEEP_ALIVE,
};
use super::effect::{CompactionHook, Effect};
use super::event::{CompactFailure, CompactionPhase, Event, PreparationEvent, Summarizer};
use super::input::{CompactRequest, EffectOutcome, GatheredContext, HookOutcome};
use super::not_compacted::sentence;
use super::{AfterPersist, Engine, EngineState};
use crate::message::{EntryKind, EntryView};
use crate::plan::SummaryWay;
use crate::rehydrate::{CancellationWords, RestoreInput, RestoreSourceResult};
use crate::rounds::{PieceKind, ViewPiece};
use crate::summary::{CompactionScope, PivotDirection};
use crate::tokens::EntryStanding;
use crate::window::{SwitchVerdict, SwitchableAction};

impl Engine {
    pub(super) fn compact_by_hand(&mut self, request: CompactRequest, now: Timestamp) {
        if !matches!(self.state, EngineState::Idle) {
            return self.compact_refused(CompactFailure::UnderWay);
        }
        if let SwitchVerdict::Off(_) = self.config.switches.decide(SwitchableAction::Manual) {
            return self.compact_refused(CompactFailure::SwitchedOff);
        }
        if !self.unwritten.is_empty() {
            // The unwritten lines belong to the earlier conversation: after the boundary they would lead back past it.
            return self.persist(Vec::new(), |lines| {
                AfterPersist::Compact(lines, Box::new(request))
            });
        }
        let way = if request.local {
            SummaryWay::Local
        } else {
            SummaryWay::Model
        };
        self.start(CompactionCause::Manual, way, request, now);
    }

    pub(super) fn compact_by_itself(&mut self, way: SummaryWay, now: Timestamp) {
        if self.settle_by_preparation(now) || self.settle_by_notes_to_come(now) {
            return;
        }
        self.start(
            CompactionCause::Threshold,
            way,
            CompactRequest::default(),
            now,
        );
    }

    pub(super) fn compact_reactively(&mut self, now: Timestamp) {
        let way = match self.tracking.breaker() {
            crate::plan::Breaker::Closed => SummaryWay::Model,
            crate::plan::Breaker::Open => SummaryWay::Local,
        };
        self.start(
            CompactionCause::TooLong,
            way,
            CompactRequest::default(),
            now,
        );
    }

    fn start(
        &mut self,
        cause: CompactionCause,
        way: SummaryWay,
        request: CompactRequest,
        now: Timestamp,
    ) {
        let pieces = self.live.pieces();
        let (scope, direction) = match self.scope(cause, &pieces, &request) {
            Ok(scope) => scope,
            Err(failure) => return self.not_started(cause, failure, now),
        };
        // This compaction supersedes any prepared one.
        self.drop_prepared(now);
        self.notify(Event::Phase(Some(CompactionPhase::PreCompactHooks)));
        let compaction = self.compaction(cause, way, request, (scope, direction), now);
        self.run_pre_hooks(compaction);
    }

    /// Runs the hooks before a compaction, its first step.
    pub(super) fn run_pre_hooks(&mut self, compaction: CompactionInProgress) {
        let call = CompactionHook::PreCompact {
            trigger: compaction.trigger(),
            instructions: compaction.request.instructions.clone(),
        };
        self.await_hooks(compaction, call);
    }

    /// Creates a compaction at its beginning.
    pub(super) fn compaction(
        &self,
        cause: CompactionCause,
        way: SummaryWay,
        request: CompactRequest,
        (scope, direction): (CompactionScope, Option<PivotDirection>),
        now: Timestamp,
    ) -> CompactionInProgress {
        // The provider's count is better than an estimate, so the new view is judged by it.
        let counted = match cause {
            CompactionCause::TooLong => self.turn.counted.unwrap_or_default(),
            _ => 0,
        };
        CompactionInProgress {
            place: CompactionTiming::Awaited,
            cause,
            way,
            scope,
            direction,
            request,
            hook_instructions: Vec::new(),
            project_instructions: None,
            stage: CompactionStage::PreHooks,
            awaits: None,
            started: now,
            prepared: false,
            awaited_since: now,
            keep_alive: now + KEEP_ALIVE,
            used: self.used().max(counted),
            before: self.view_size(),
            folding: None,
            asking: super::summary_request_state::SummaryRequestState::default(),
            summary: None,
            signed: None,
            usage: None,
            gathered: GatheredContext::default(),
            hook_context: Vec::new(),
            draft: None,
            economy: None,
        }
    }

    /// Keeps a compaction until the outcome that it waits for arrives.
    pub(super) fn hold(&mut self, compaction: CompactionInProgress) {
        match compaction.place {
            CompactionTiming::Awaited => self.state = EngineState::Compacting(Box::new(compaction)),
            CompactionTiming::Ahead => self.ahead.compaction = Some(Box::new(compaction)),
        }
    }

    /// The part that is summarized and the part that is kept.
    fn scope(
        &self,
        cause: CompactionCause,
        pieces: &[ViewPiece],
        request: &CompactRequest,
    ) -> Result<(CompactionScope, Option<PivotDirection>), CompactFailure> {
        if !pieces.iter().any(|piece| piece.part.is_sent()) {
            return Err(CompactFailure::Empty);
        }
        let Some(pivot) = &request.pivot else {
            let scope = CompactionScope::whole(pieces);
            self.something_new(pieces, &scope)?;
            // If there is no room, even the kept part must be compacted; a manual compaction would lose it for nothing.
            if cause == CompactionCause::Manual && !self.has_new_conversation(pieces) {
                return Err(CompactFailure::NothingNew);
            }
            return Ok((scope, None));
        };
        let wanted = crate::message::Id::of(&pivot.uuid);
        let mut views = self.live.views();
        let at = views.position(|entry| entry.uuid() == Some(wanted));
        let at = at.ok_or(CompactFailure::NoPivot)?;
        let scope = CompactionScope::partial(pieces, at, pivot.direction);
        if scope.messages(pieces) == 0 {
            return Err(CompactFailure::NoPivot);
        }
        self.something_new(pieces, &scope)?;
        Ok((scope, Some(pivot.direction)))
    }

    /// Recomputes the scope: the lines that must be on disk before the request have joined the view, and are summarized
    /// or kept with the rest.
    pub(super) fn rescope(&mut self, mut compaction: CompactionInProgress, now: Timestamp) {
        let scope = match compaction.cause {
            CompactionCause::Price => self.priced_scope().ok_or(CompactFailure::NothingNew),
            cause => self
                .scope(cause, &self.live.pieces(), &compaction.request)
                .map(|(scope, _)| scope),
        };
        match scope {
            Ok(scope) => {
                compaction.scope = scope;
                compaction.before = self.view_size();
                self.ask_for_summary(compaction, now);
            }
            // Results for open calls moved the cut, so nothing is left on that side.
            Err(kind) => self.give_up(compaction, kind, sentence(kind).to_owned(), now),
        }
    }

    /// Checks that there is something new: summarizing only the last compaction's own entries would just degrade its
    /// summary.
    pub(super) fn something_new(
        &self,
        pieces: &[ViewPiece],
        scope: &CompactionScope,
    ) -> Result<(), CompactFailure> {
        let summed_up = scope.summarized.clone();
        let mut entries = pieces.iter().zip(self.live.views());
        let compacted = entries.clone().any(|(piece, entry)| {
            piece.part == PieceKind::Boundary || entry.facets.flags.compact_summary
        });
        let spoken = entries
            .by_ref()
            .skip(summed_up.start)
            .take(summed_up.len())
            .any(|(piece, entry)| is_conversation_entry(piece, entry));
        if compacted && !spoken {
            Err(CompactFailure::NothingNew)
        } else {
            Ok(())
        }
    }

    /// Whether the view has any conversation besides what the last compaction itself kept.
    fn has_new_conversation(&self, pieces: &[ViewPiece]) -> bool {
        let mut entries = pieces.iter().zip(self.live.views());
        let is_kept = |entry| self.live.standing(entry) == EntryStanding::Preserved;
        self.live.boundary().is_none()
            || entries.any(|(piece, entry)| is_conversation_entry(piece, entry) && !is_kept(entry))
    }

    /// Continues a compaction with the outcome that it waited for.
    pub(super) fn compaction_goes_on(
        &mut self,
        mut compaction: CompactionInProgress,
        outcome: EffectOutcome,
        now: Timestamp,
    ) {
        compaction.awaits = None;
        match compaction.stage {
            CompactionStage::PreHooks => {
                let said = hooks(outcome);
                if let Some(reason) = said.blocked {
                    let reason = format!("a PreCompact hook blocked it: {reason}");
                    return self.give_up(compaction, CompactFailure::Blocked, reason, now);
                }
                compaction.hook_instructions = said.instructions;
                compaction.project_instructions = said.compact_instructions;
                if compaction.place == CompactionTiming::Ahead {
                    return self.begin_summary(compaction, now);
                }
                self.notify(Event::Phase(Some(CompactionPhase::Compacting)));
                if self.may_use_notes(&compaction) {
                    self.await_notes(compaction, now)
                } else {
                    self.ask_model(compaction, now)
                }
            }
            CompactionStage::ReadingNotes => self.notes_read(compaction, outcome, now),
            // These stages wait for no outcome.
            CompactionStage::AwaitingNotes(_) | CompactionStage::Ready => self.hold(compaction),
            CompactionStage::Summary => self.summary_answered(compaction, outcome, now),
            CompactionStage::Gathering => {
                if let EffectOutcome::Gathered(gathered) = outcome {
                    compaction.gathered = *gathered;
                    let gathered = &mut compaction.gathered.gathered;
                    gathered.called_off = self.cancellation_words(gathered);
                }
                compaction.stage = CompactionStage::StartHooks;
                self.await_hooks(compaction, CompactionHook::SessionStart);
            }
            CompactionStage::StartHooks => {
                compaction.hook_context = hooks(outcome).context;
                self.prepare_commit(compaction, now);
            }
            CompactionStage::Archiving => self.commit(compaction, &outcome, now),
            CompactionStage::PostHooks => {
                let context = hooks(outcome).context;
                self.finish(compaction.cause, &context, now);
            }
        }
    }

    /// Gathers the context to restore, now that the summary exists.
    pub(super) fn summary_ready(&mut self, mut compaction: CompactionInProgress, now: Timestamp) {
        if compaction.place == CompactionTiming::Ahead {
            compaction.stage = CompactionStage::Ready;
            self.notify(Event::Ahead(PreparationEvent::Ready));
            return self.hold(compaction);
        }
        if compaction.prepared && !self.caught_up(&mut compaction) {
            return self.start_over(compaction, now);
        }
        if let Some((summary, by)) = &mut compaction.summary
            && *by != Summarizer::Local
        {
            *summary = summary.reworded(|text| self.live.facts().with_words_against(text));
        }
        self.notify(Event::Phase(Some(CompactionPhase::SessionStartHooks)));
        let id = self.effect_id();
        let kept = self.live.files_shown(compaction.scope.kept.clone());
        let exclusions = crate::rehydrate::RestoreExclusions {
            transcript: self.config.transcript.as_ref().map(Into::into),
            kept: kept.clone(),
            ..Default::default()
        };
        self.outbox.push_back(Effect::Gather {
            id,
            files: self.live.read_files().wanted(&exclusions),
            kept,
        });
        compaction.stage = CompactionStage::Gathering;
        compaction.awaits = Some(id);
        self.hold(compaction);
    }

    /// The user's words against work that would be restored (ruling 18).
    fn cancellation_words(&self, gathered: &RestoreInput) -> CancellationWords {
        let facts = self.live.facts();
        let todos = match &gathered.todos {
            Some(RestoreSourceResult::Found(todos)) => todos.as_slice(),
            _ => &[],
        };
        let todos = todos.iter().filter(|todo| todo.is_open());
        let todos = todos.filter_map(|todo| {
            let said = facts.cancellation_of_todo(&todo.content)?;
            Some((todo.content.clone(), said))
        });
        CancellationWords {
            todos: todos.collect(),
            plan: facts.cancellation_of_plan(),
        }
    }

    pub(super) fn await_hooks(
        &mut self,
        mut compaction: CompactionInProgress,
        call: CompactionHook,
    ) {
        let id = self.effect_id();
        self.outbox.push_back(Effect::RunHooks {
            id,
            call,
            urgency: compaction.place.urgency(),
        });
        compaction.awaits = Some(id);
        self.hold(compaction);
    }

    pub(super) fn wake(&mut self, now: Timestamp) {
        let EngineState::Compacting(compaction) = &mut self.state else {
            return;
        };
        if let CompactionStage::AwaitingNotes(until) = compaction.stage
            && now >= until
            && let EngineState::Compacting(compaction) =
                std::mem::replace(&mut self.state, EngineState::Idle)
        {
            return self.read_notes(*compaction);
        }
        let EngineState::Compacting(compaction) = &mut self.state else {
            return;
        };
        if now < compaction.keep_alive {
            return;
        }
        compaction.keep_alive = now + KEEP_ALIVE;
        let seconds = now.duration_since(compaction.started).as_secs();
        self.notify(Event::StillCompacting {
            seconds: seconds.unsigned_abs(),
        });
    }

    /// Finishes a compaction after its hooks: their output joins the conversation (F10), and the turn goes on.
    fn finish(&mut self, cause: CompactionCause, context: &[String], now: Timestamp) {
        let after = match cause {
            CompactionCause::Manual => AfterCompaction::Rest,
            CompactionCause::Threshold | CompactionCause::TooLong | CompactionCause::Price => {
                AfterCompaction::GoOn
            }
        };
        let said: Vec<&str> = context.iter().map(String::as_str).collect();
        if said.is_empty() {
            return self.after_compaction(after, now);
        }
        let value = crate::boundary::hook_context("PostCompact", "PostCompact", &said);
        let uuid = self.ids.next_uuid();
        let stamp = crate::boundary::LineStamp {
            uuid: &uuid,
            timestamp: now,
        };
        let new = super::NewEntry::Attachment(value);
        let envelope = self.config.identity.envelope();
        match super::line::added(envelope, stamp, self.live.newest(), &new, &[]) {
            Ok(line) => self.persist(vec![line], |lines| AfterPersist::Finished(lines, after)),
            Err(_) => self.after_compaction(after, now),
        }
    }
}

/// The output of hooks. Hooks never break a compaction (K2): any other outcome counts as no output.
fn hooks(outcome: EffectOutcome) -> HookOutcome {
    match outcome {
        EffectOutcome::HooksRan(said) => said,
        _ => HookOutcome::default(),
    }
}

/// Whether an entry belongs to the conversation, and was not written by a compaction.
fn is_conversation_entry(piece: &ViewPiece, entry: EntryView<'_>) -> bool {
    let facets = entry.facets;
    piece.part.is_sent()
        && !facets.flags.compact_summary
        && !entry.is_signed_summary()
        && facets.kind != EntryKind::Attachment
}

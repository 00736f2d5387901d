//! The way of a compaction (F1): hooks, summary, what goes back, hooks, boundary, hooks. Nothing is replaced before the
//! boundary is on disk, so it can be cancelled at any time until then.

use jiff::{SignedDuration, Timestamp};

use super::effect::{Effect, EffectId, HookCall, Urgency};
use super::event::{Ahead, CompactFailure, Event, Phase, Summarizer};
use super::input::{CompactRequest, GatheredContext, HookOutcome, Outcome};
use super::not_made::sentence;
use super::{Engine, State, Then};
use crate::boundary::Trigger;
use crate::message::{EntryKind, Usage, View};
use crate::plan::Way;
use crate::rehydrate::{Gathered, SaidSince, Source};
use crate::rounds::{Part, Piece};
use crate::summary::{Direction, Scope, Summary};
use crate::tokens::Standing;
use crate::window::{Action, Verdict};

/// How often the status is repeated while a compaction runs (F8).
const KEEP_ALIVE: SignedDuration = SignedDuration::from_secs(30);

/// What follows a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// Nothing: it was asked for by hand.
    Rest,
    /// The turn that it interrupted.
    GoOn,
}

/// Who set it off. A threshold and a request that was too long are both `auto` on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    Manual,
    Threshold,
    TooLong,
}

/// Who waits for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A turn, or the user.
    Awaited,
    /// Nobody: the conversation goes on beside it (X5).
    Ahead,
}

impl Place {
    pub(super) fn urgency(self) -> Urgency {
        match self {
            Self::Awaited => Urgency::Awaited,
            Self::Ahead => Urgency::Background,
        }
    }
}

/// What an outcome is awaited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    PreHooks,
    /// Notes are being taken: they are waited for until then.
    AwaitingNotes(Timestamp),
    ReadingNotes,
    Summary,
    /// The summary was made ahead and waits for its time.
    Ready,
    Gathering,
    StartHooks,
    Archiving,
    PostHooks,
}

/// A compaction under way.
#[derive(Debug)]
pub(super) struct Compaction {
    pub(super) place: Place,
    pub(super) cause: Cause,
    pub(super) way: Way,
    pub(super) scope: Scope,
    pub(super) direction: Option<Direction>,
    pub(super) request: CompactRequest,
    pub(super) hook_instructions: Vec<String>,
    /// What the project's memory file says about compactions, read when this one began.
    pub(super) project_instructions: Option<String>,
    pub(super) stage: Stage,
    pub(super) awaits: Option<EffectId>,
    pub(super) started: Timestamp,
    /// Whether it was begun ahead.
    pub(super) prepared: bool,
    /// Since when the conversation waits for it.
    pub(super) awaited_since: Timestamp,
    pub(super) keep_alive: Timestamp,
    /// Tokens in the window before, and the estimate of the view.
    pub(super) used: u64,
    pub(super) before: u64,
    /// The spans, where it folds.
    pub(super) folding: Option<Box<super::fold::Folding>>,
    pub(super) asking: super::summarise::Asking,
    pub(super) summary: Option<(Summary, Summarizer)>,
    /// The provider's own, where that is the summary.
    pub(super) signed: Option<super::provider::SignedSummary>,
    pub(super) usage: Option<Usage>,
    pub(super) gathered: GatheredContext,
    pub(super) hook_context: Vec<String>,
    pub(super) draft: Option<Box<super::draft::Draft>>,
}

impl Compaction {
    /// The conversation waits for it from now on.
    pub(super) fn take_place(&mut self, now: Timestamp) {
        self.place = Place::Awaited;
        self.prepared = true;
        self.awaited_since = now;
        self.keep_alive = now + KEEP_ALIVE;
    }

    /// Who set it off, as it is on disk.
    pub(super) fn trigger(&self) -> Trigger {
        match self.cause {
            Cause::Manual => self.request.trigger,
            Cause::Threshold | Cause::TooLong => Trigger::Auto,
        }
    }

    /// What hooks want the summary to heed.
    pub(super) fn hook_texts(&self) -> Vec<&str> {
        self.hook_instructions.iter().map(String::as_str).collect()
    }
}

impl Engine {
    pub(super) fn compact_by_hand(&mut self, request: CompactRequest, now: Timestamp) {
        if !matches!(self.state, State::Idle) {
            return self.compact_refused(CompactFailure::UnderWay);
        }
        if let Verdict::Off(_) = self.config.switches.decide(Action::Manual) {
            return self.compact_refused(CompactFailure::SwitchedOff);
        }
        if !self.unwritten.is_empty() {
            // It hangs on what came before: behind the boundary it would lead back past it.
            return self.persist(Vec::new(), |lines| Then::Compact(lines, Box::new(request)));
        }
        let way = match request.local {
            true => Way::Local,
            false => Way::Model,
        };
        self.start(Cause::Manual, way, request, now);
    }

    pub(super) fn compact_by_itself(&mut self, way: Way, now: Timestamp) {
        if self.settle_by_preparation(now) || self.settle_by_notes_to_come(now) {
            return;
        }
        self.start(Cause::Threshold, way, CompactRequest::default(), now);
    }

    pub(super) fn compact_reactively(&mut self, now: Timestamp) {
        let way = match self.tracking.breaker() {
            crate::plan::Breaker::Closed => Way::Model,
            crate::plan::Breaker::Open => Way::Local,
        };
        self.start(Cause::TooLong, way, CompactRequest::default(), now);
    }

    fn start(&mut self, cause: Cause, way: Way, request: CompactRequest, now: Timestamp) {
        let pieces = self.live.pieces();
        let (scope, direction) = match self.scope(cause, &pieces, &request) {
            Ok(scope) => scope,
            Err(failure) => return self.not_started(cause, failure, now),
        };
        // Whatever is prepared is overtaken by this.
        self.drop_prepared();
        self.notify(Event::Phase(Some(Phase::PreCompactHooks)));
        let compaction = self.compaction(cause, way, request, (scope, direction), now);
        self.run_pre_hooks(compaction);
    }

    /// The first step of every compaction.
    pub(super) fn run_pre_hooks(&mut self, compaction: Compaction) {
        let call = HookCall::PreCompact {
            trigger: compaction.trigger(),
            instructions: compaction.request.instructions.clone(),
        };
        self.await_hooks(compaction, call);
    }

    /// A compaction at its beginning.
    pub(super) fn compaction(
        &self,
        cause: Cause,
        way: Way,
        request: CompactRequest,
        (scope, direction): (Scope, Option<Direction>),
        now: Timestamp,
    ) -> Compaction {
        // What the provider counted is worth more than an estimate: the new view is judged by it.
        let counted = match cause {
            Cause::TooLong => self.turn.counted.unwrap_or_default(),
            _ => 0,
        };
        Compaction {
            place: Place::Awaited,
            cause,
            way,
            scope,
            direction,
            request,
            hook_instructions: Vec::new(),
            project_instructions: None,
            stage: Stage::PreHooks,
            awaits: None,
            started: now,
            prepared: false,
            awaited_since: now,
            keep_alive: now + KEEP_ALIVE,
            used: self.used().max(counted),
            before: self.view_size(),
            folding: None,
            asking: super::summarise::Asking::default(),
            summary: None,
            signed: None,
            usage: None,
            gathered: GatheredContext::default(),
            hook_context: Vec::new(),
            draft: None,
        }
    }

    /// Keeps a compaction until what it awaits comes.
    pub(super) fn hold(&mut self, compaction: Compaction) {
        match compaction.place {
            Place::Awaited => self.state = State::Compacting(Box::new(compaction)),
            Place::Ahead => self.ahead.compaction = Some(Box::new(compaction)),
        }
    }

    /// What is summed up and what is kept.
    fn scope(
        &self,
        cause: Cause,
        pieces: &[Piece],
        request: &CompactRequest,
    ) -> Result<(Scope, Option<Direction>), CompactFailure> {
        if !pieces.iter().any(|piece| piece.part.is_sent()) {
            return Err(CompactFailure::Empty);
        }
        let Some(pivot) = &request.pivot else {
            let scope = Scope::whole(pieces);
            self.something_new(pieces, &scope)?;
            // Who has no room must go on with what was kept; who asks by hand loses it for nothing.
            if cause == Cause::Manual && !self.anything_said(pieces) {
                return Err(CompactFailure::NothingNew);
            }
            return Ok((scope, None));
        };
        let wanted = crate::message::Id::of(&pivot.uuid);
        let mut views = self.live.views();
        let at = views.position(|entry| entry.uuid() == Some(wanted));
        let at = at.ok_or(CompactFailure::NoPivot)?;
        let scope = Scope::partial(pieces, at, pivot.direction);
        if scope.messages(pieces) == 0 {
            return Err(CompactFailure::NoPivot);
        }
        self.something_new(pieces, &scope)?;
        Ok((scope, Some(pivot.direction)))
    }

    /// What must be on disk before the request has joined the view: it is summed up or kept with the rest.
    pub(super) fn rescope(&mut self, mut compaction: Compaction, now: Timestamp) {
        match self.scope(compaction.cause, &self.live.pieces(), &compaction.request) {
            Ok((scope, _)) => {
                compaction.scope = scope;
                compaction.before = self.view_size();
                self.ask_for_summary(compaction, now);
            }
            // Results for open calls moved the cut: nothing is left on that side.
            Err(kind) => self.give_up(compaction, kind, sentence(kind).to_owned(), now),
        }
    }

    /// Summing up nothing but the last compaction's own entries would only wear its summary down.
    pub(super) fn something_new(
        &self,
        pieces: &[Piece],
        scope: &Scope,
    ) -> Result<(), CompactFailure> {
        let summed_up = scope.summarised.clone();
        let mut entries = pieces.iter().zip(self.live.views());
        let compacted = entries.clone().any(|(piece, entry)| {
            piece.part == Part::Boundary || entry.facets.flags.compact_summary
        });
        let spoken = entries
            .by_ref()
            .skip(summed_up.start)
            .take(summed_up.len())
            .any(|(piece, entry)| is_spoken(piece, entry));
        match compacted && !spoken {
            true => Err(CompactFailure::NothingNew),
            false => Ok(()),
        }
    }

    /// Whether anything was said besides what the last compaction itself kept.
    fn anything_said(&self, pieces: &[Piece]) -> bool {
        let mut entries = pieces.iter().zip(self.live.views());
        let is_kept = |entry| self.live.standing(entry) == Standing::Preserved;
        self.live.boundary().is_none()
            || entries.any(|(piece, entry)| is_spoken(piece, entry) && !is_kept(entry))
    }

    /// An outcome that the compaction waited for.
    pub(super) fn compaction_goes_on(
        &mut self,
        mut compaction: Compaction,
        outcome: Outcome,
        now: Timestamp,
    ) {
        compaction.awaits = None;
        match compaction.stage {
            Stage::PreHooks => {
                let said = hooks(outcome);
                if let Some(reason) = said.blocked {
                    let reason = format!("a PreCompact hook blocked it: {reason}");
                    return self.give_up(compaction, CompactFailure::Blocked, reason, now);
                }
                compaction.hook_instructions = said.instructions;
                compaction.project_instructions = said.compact_instructions;
                if compaction.place == Place::Ahead {
                    return self.summarise(compaction, now);
                }
                self.notify(Event::Phase(Some(Phase::Compacting)));
                match self.may_use_notes(&compaction) {
                    true => self.await_notes(compaction, now),
                    false => self.ask_model(compaction, now),
                }
            }
            Stage::ReadingNotes => self.notes_read(compaction, outcome, now),
            // Nothing is awaited there.
            Stage::AwaitingNotes(_) | Stage::Ready => self.hold(compaction),
            Stage::Summary => self.summary_answered(compaction, outcome, now),
            Stage::Gathering => {
                if let Outcome::Gathered(gathered) = outcome {
                    compaction.gathered = *gathered;
                    let gathered = &mut compaction.gathered.gathered;
                    gathered.called_off = self.said_since(gathered);
                }
                compaction.stage = Stage::StartHooks;
                self.await_hooks(compaction, HookCall::SessionStart);
            }
            Stage::StartHooks => {
                compaction.hook_context = hooks(outcome).context;
                self.prepare_commit(compaction, now);
            }
            Stage::Archiving => self.commit(compaction, &outcome, now),
            Stage::PostHooks => {
                let context = hooks(outcome).context;
                self.finish(compaction.cause, &context, now);
            }
        }
    }

    /// The summary is there: gather what goes back into the window.
    pub(super) fn summed_up(&mut self, mut compaction: Compaction, now: Timestamp) {
        if compaction.place == Place::Ahead {
            compaction.stage = Stage::Ready;
            self.notify(Event::Ahead(Ahead::Ready));
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
        self.notify(Event::Phase(Some(Phase::SessionStartHooks)));
        let id = self.effect_id();
        let kept = self.live.files_read(compaction.scope.kept.clone());
        let exclusions = crate::rehydrate::Exclusions {
            transcript: self.config.transcript.as_ref().map(Into::into),
            kept: kept.clone(),
            ..Default::default()
        };
        self.outbox.push_back(Effect::Gather {
            id,
            files: self.live.read_files().wanted(&exclusions),
            kept,
        });
        compaction.stage = Stage::Gathering;
        compaction.awaits = Some(id);
        self.hold(compaction);
    }

    /// What the user has said against work that is put back (ruling 18).
    fn said_since(&self, gathered: &Gathered) -> SaidSince {
        let facts = self.live.facts();
        let todos = match &gathered.todos {
            Some(Source::Found(todos)) => todos.as_slice(),
            _ => &[],
        };
        let todos = todos.iter().filter(|todo| todo.is_open());
        let todos = todos.filter_map(|todo| {
            let said = facts.said_against_todo(&todo.content)?;
            Some((todo.content.clone(), said))
        });
        SaidSince {
            todos: todos.collect(),
            plan: facts.said_against_plan(),
        }
    }

    pub(super) fn await_hooks(&mut self, mut compaction: Compaction, call: HookCall) {
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
        let State::Compacting(compaction) = &mut self.state else {
            return;
        };
        if let Stage::AwaitingNotes(until) = compaction.stage
            && now >= until
            && let State::Compacting(compaction) = std::mem::replace(&mut self.state, State::Idle)
        {
            return self.read_notes(*compaction);
        }
        let State::Compacting(compaction) = &mut self.state else {
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

    /// Hooks ran behind the compaction: what they said joins the conversation (F10), and the turn goes on.
    fn finish(&mut self, cause: Cause, context: &[String], now: Timestamp) {
        let after = match cause {
            Cause::Manual => After::Rest,
            Cause::Threshold | Cause::TooLong => After::GoOn,
        };
        let said: Vec<&str> = context.iter().map(String::as_str).collect();
        if said.is_empty() {
            return self.after_compaction(after, now);
        }
        let value = crate::boundary::hook_context("PostCompact", "PostCompact", &said);
        let uuid = self.ids.next_uuid();
        let stamp = crate::boundary::Stamp {
            uuid: &uuid,
            timestamp: now,
        };
        let new = super::NewEntry::Attachment(value);
        let envelope = self.config.identity.envelope();
        match super::line::added(envelope, stamp, self.live.newest(), &new) {
            Ok(line) => self.persist(vec![line], |lines| Then::Finished(lines, after)),
            Err(_) => self.after_compaction(after, now),
        }
    }
}

/// Hooks never break a compaction (K2): whatever else comes back is silence.
fn hooks(outcome: Outcome) -> HookOutcome {
    match outcome {
        Outcome::HooksRan(said) => said,
        _ => HookOutcome::default(),
    }
}

/// Whether an entry is part of the conversation, and not what a compaction wrote.
fn is_spoken(piece: &Piece, entry: View<'_>) -> bool {
    let facets = entry.facets;
    piece.part.is_sent()
        && !facets.flags.compact_summary
        && !entry.is_signed_summary()
        && facets.kind != EntryKind::Attachment
}

//! Session notes in the engine (S2, S5–S7): when they are taken, after which request, and how a compaction uses them.
//!
//! The caller takes them in the background: no turn waits. `notes/` has what they contain and how they are used.

use jiff::Timestamp;
use serde_json::json;

use super::compaction_in_progress::{CompactionCause, CompactionInProgress, CompactionStage};
use super::effect::{Effect, NotesRun};
use super::effect_id::EffectId;
use super::event::{Event, NotesEvent, Summarizer};
use super::input::{EffectOutcome, NotesOnDisk, NotesRunOutcome};
use super::sizes::prefix_weight;
use super::{Engine, EngineState, NotesConfig, SummaryTiming};
use crate::message::{BlockKind, EntryBlock, Id};
use crate::notes::{
    KeepWindow, NotesCaps, NotesPlan, NotesPlanInput, NotesProgress, NotesReplacement, NotesRunEnd,
    NotesRunId, NotesTemplate, NotesTrigger, NotesWait, SessionNotes, WeighedEntry,
};
use crate::summary::{CompactionScope, PivotDirection, Summary};
use crate::window::guards::guard;
use crate::window::{ProactiveGuard, SwitchVerdict, SwitchableAction, WindowLevel, WindowOwner};

/// The notes of a running session.
#[derive(Debug)]
pub(super) struct NotesScheduler {
    config: NotesConfig,
    trigger: NotesTrigger,
    running: Option<NotesRunInProgress>,
}

#[derive(Debug)]
struct NotesRunInProgress {
    id: EffectId,
    run: NotesRunId,
    since: Timestamp,
}

impl NotesScheduler {
    pub(super) fn new(config: NotesConfig, scale: crate::window::WindowScale) -> Self {
        let last = config.reach.as_ref().map(|reach| reach.tokens);
        Self {
            trigger: NotesTrigger::new(config.settings, scale, last),
            config,
            running: None,
        }
    }

    /// Notes that the window was made smaller.
    pub(super) fn shrunk_to(&mut self, tokens: u64) {
        self.trigger.shrunk_to(tokens);
    }

    pub(super) fn awaits(&self, id: EffectId) -> bool {
        self.running.as_ref().is_some_and(|run| run.id == id)
    }
}

impl Engine {
    /// Whether notes are taken here: only for the main conversation (C2), and not inside a compaction, a notes run or a
    /// fold (H6).
    fn notes_allowed(&self) -> bool {
        let config = &self.config;
        let inside = matches!(
            guard(&config.source, config.owner),
            ProactiveGuard::InsideCompaction
                | ProactiveGuard::InsideNotes
                | ProactiveGuard::InsideCollapse
        );
        !inside
            && config.source.is_main()
            && config.switches.decide(SwitchableAction::Notes) == SwitchVerdict::Allowed
    }

    /// Whether a compaction tries notes first.
    pub(super) fn notes_in_use(&self) -> bool {
        self.notes.is_some() && self.config.owner == WindowOwner::Proactive && self.notes_allowed()
    }

    /// Takes notes if they are due, after a reply with this many calls.
    pub(super) fn notes_after_reply(&mut self, calls: u64, now: Timestamp) {
        let (allowed, used) = (self.notes_allowed(), self.used());
        let is_earned = self.notes_are_earned(now);
        let Some(taking) = &mut self.notes else {
            return;
        };
        taking.trigger.responded(calls);
        if !allowed || !is_earned {
            return;
        }
        let Some(run) = taking.trigger.begin(used, now) else {
            return;
        };
        // A run that never came back is abandoned.
        let stale = taking.running.take().map(|running| running.id);
        let edit_tool = taking.config.edit_tool.clone();
        self.outbox.extend(stale.map(|id| Effect::Cancel { id }));
        let Some((fork, betas, through)) = self.fork_for_notes() else {
            if let Some(taking) = &mut self.notes {
                taking.trigger.ended(run);
            }
            return;
        };
        let id = self.effect_id();
        if let Some(taking) = &mut self.notes {
            let since = now;
            taking.running = Some(NotesRunInProgress { id, run, since });
        }
        self.outbox.push_back(Effect::TakeNotes {
            id,
            run: Box::new(NotesRun {
                fork,
                betas,
                edit_tool,
                caps: NotesCaps::at(self.config.window.scale()),
                reach: NotesProgress {
                    last_summarized_uuid: through,
                    tokens: used,
                },
            }),
        });
    }

    /// The conversation to fork, and its last entry: all of it if no call is open, else everything that was sent.
    fn fork_for_notes(&mut self) -> Option<(crate::prompt::ConversationFork, Vec<String>, String)> {
        let edits = self.cache_edits();
        let assembly = self.assembly.as_mut()?;
        if self.outdated.is_some() || assembly.must_begin_anew() {
            return None;
        }
        assembly.freeze();
        let fork = assembly.fork(None, edits.as_deref())?;
        let betas = assembly.prefix().latched.betas.clone();
        let last = assembly.last_entry()?;
        let mut views = self.live.views();
        let through = views.find(|entry| entry.uuid() == Some(last))?;
        let through = through.text(through.facets.uuid).into_owned();
        Some((fork, betas, through))
    }

    /// Takes the outcome of the agent that takes notes.
    pub(super) fn noted(&mut self, outcome: EffectOutcome, now: Timestamp) {
        let Some(taking) = &mut self.notes else {
            return;
        };
        let Some(running) = taking.running.take() else {
            return;
        };
        let taken = match outcome {
            EffectOutcome::Noted(taken) => *taken,
            EffectOutcome::Failed(failed) => NotesRunOutcome {
                failed: Some(failed.message),
                ..NotesRunOutcome::default()
            },
            _ => NotesRunOutcome::default(),
        };
        if taking.trigger.ended(running.run) == NotesRunEnd::Superseded {
            return;
        }
        let took = now.duration_since(running.since).as_millis();
        let cost = self.config.model.cost(&taken.usage);
        self.economy.noted(&taken.usage, cost);
        if taken.requests > 0 {
            let usage = &taken.usage;
            let line = json!({
                "type": "notes-taken",
                "sessionId": self.config.identity.session_id,
                "timestamp": format!("{now:.3}"),
                "changed": taken.changed,
                "refused": taken.refused,
                "requests": taken.requests,
                "usage": crate::boundary::usage_value(usage),
                "costUsd": cost.map(|cost| cost.to_f64()),
            });
            // The line is not part of the chain, so it is written with the next lines.
            self.unwritten.push(line.to_string().into());
        }
        self.notify(Event::NotesTaken(Box::new(NotesEvent {
            taken,
            cost,
            milliseconds: u64::try_from(took).unwrap_or(0),
        })));
        if let EngineState::Compacting(compaction) = &self.state
            && let CompactionStage::AwaitingNotes(_) = compaction.stage
            && let EngineState::Compacting(compaction) =
                std::mem::replace(&mut self.state, EngineState::Idle)
        {
            self.read_notes(*compaction);
        }
    }

    /// Whether a compaction may use the notes: a manual one with instructions uses a model (O1), and so does one that
    /// hooks have instructions for, or whose token count the provider has just disproved.
    pub(super) fn may_use_notes(&self, compaction: &CompactionInProgress) -> bool {
        let request = &compaction.request;
        let plain = request.instructions.is_none()
            && request.pivot.is_none()
            && request.approved.is_none()
            && !request.local
            && !request.preview;
        plain
            && self.notes_in_use()
            && compaction.hook_instructions.is_empty()
            && compaction.cause != CompactionCause::TooLong
    }

    /// Handles a threshold that is reached while notes are being taken. Where nothing is to wait (X5), the conversation
    /// goes on in the meantime as long as there is room. Returns whether it does.
    pub(super) fn settle_by_notes_to_come(&mut self, now: Timestamp) -> bool {
        let goes_on = self.takes_notes(now)
            && self.config.preparation == SummaryTiming::Ahead
            && self.notes_in_use()
            && self.status().level < WindowLevel::Blocking;
        if goes_on {
            self.turn.tried = true;
            self.step(now);
        }
        goes_on
    }

    /// Whether notes are being taken.
    pub(super) fn takes_notes(&self, now: Timestamp) -> bool {
        let taking = self.notes.as_ref();
        taking.is_some_and(|taking| taking.trigger.wait(now) != NotesWait::No)
    }

    /// Waits for notes that are being taken, then reads them (S6). Where nothing is to wait, the existing notes are
    /// used: the part that they do not cover is kept.
    pub(super) fn await_notes(&mut self, mut compaction: CompactionInProgress, now: Timestamp) {
        let wait = self.notes.as_ref().map(|taking| taking.trigger.wait(now));
        let may_wait = compaction.cause == CompactionCause::Manual
            || self.config.preparation == SummaryTiming::WhenFull;
        match wait {
            Some(NotesWait::Until(until)) if may_wait => {
                compaction.stage = CompactionStage::AwaitingNotes(until);
                self.hold(compaction);
            }
            _ => self.read_notes(compaction),
        }
    }

    pub(super) fn read_notes(&mut self, mut compaction: CompactionInProgress) {
        let id = self.effect_id();
        self.outbox.push_back(Effect::ReadNotes { id });
        compaction.stage = CompactionStage::ReadingNotes;
        compaction.awaits = Some(id);
        self.hold(compaction);
    }

    /// Uses the notes that were read to replace the older part, or asks a model.
    pub(super) fn notes_read(
        &mut self,
        mut compaction: CompactionInProgress,
        outcome: EffectOutcome,
        now: Timestamp,
    ) {
        let notes = match outcome {
            EffectOutcome::NotesRead(notes) => *notes,
            _ => NotesOnDisk::default(),
        };
        let plan = self.notes_plan(&notes);
        let replaced = match plan {
            NotesPlan::Applicable(replacement) => Summary::of_notes(&replacement.summary_text)
                .map(|summary| (self.scope_of(&replacement), summary)),
            NotesPlan::NotApplicable(reason) => {
                self.notify(Event::NotesNotUsed { reason });
                None
            }
        };
        let Some((scope, summary)) = replaced else {
            return self.ask_model(compaction, now);
        };
        compaction.scope = scope;
        compaction.direction = Some(PivotDirection::UpTo);
        compaction.summary = Some((summary, Summarizer::Notes));
        self.summary_ready(compaction, now);
    }

    /// The part that the notes replace. The plan made sure that there is one.
    fn scope_of(&self, replacement: &NotesReplacement) -> CompactionScope {
        let pieces = self.live.pieces();
        CompactionScope::partial(&pieces, replacement.keep_from, PivotDirection::UpTo)
    }

    /// Whether the notes could replace the older part of the current conversation.
    pub(super) fn notes_plan(&self, notes: &NotesOnDisk) -> NotesPlan {
        let window = &self.config.window;
        let parsed = notes.text.as_deref().map(SessionNotes::parse);
        let default = NotesTemplate::default();
        let path = self.notes.as_ref().map_or("", |taking| &taking.config.path);
        let weights = self.live.weights();
        let entries: Vec<WeighedEntry> = self
            .live
            .views()
            .zip(weights)
            .map(|(entry, weight)| WeighedEntry::of_view(entry, weight))
            .collect();
        let reach = notes.reach.as_ref();
        NotesPlan::of(&NotesPlanInput {
            notes: parsed.as_ref(),
            template: notes.template.as_ref().unwrap_or(&default),
            path,
            last_summarized: reach.map(|reach| Id::of(&reach.last_summarized_uuid)),
            pieces: &self.live.pieces(),
            entries: &entries,
            // Facts and restored context are weighed with the whole view, before anything is written.
            beside: prefix_weight(&self.prefix),
            threshold: window.auto_compact,
            caps: NotesCaps::at(window.scale()),
            keep: KeepWindow::at(window.scale()),
        })
    }

    /// The number of calls in the newest reply.
    pub(super) fn newest_calls(&self) -> u64 {
        let mut newest = self.live.entries().iter().rev();
        let reply = newest.find(|kept| kept.entry.facets().is_reply());
        reply.map_or(0, |reply| {
            let blocks = reply.entry.facets().blocks.iter();
            let calls = |block: &&EntryBlock| block.kind == BlockKind::ToolUse && !block.inner;
            blocks.filter(calls).count() as u64
        })
    }
}

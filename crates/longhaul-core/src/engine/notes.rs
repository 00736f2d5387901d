//! Session notes in a conversation's life (S2, S5–S7): when they are taken, behind which request, and a compaction by them.
//!
//! Taking them is the shell's, in the background: no turn waits. What they are and what they are good for is in `notes/`.

use jiff::Timestamp;
use serde_json::json;

use super::compact::{CompactionCause, CompactionInProgress, CompactionStage};
use super::effect::{Effect, EffectId, NotesRun};
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

/// The notes of a session under way.
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

    /// The window was made smaller.
    pub(super) fn shrunk_to(&mut self, tokens: u64) {
        self.trigger.shrunk_to(tokens);
    }

    pub(super) fn awaits(&self, id: EffectId) -> bool {
        self.running.as_ref().is_some_and(|run| run.id == id)
    }
}

impl Engine {
    /// Whether notes are taken here: only the main conversation's are (C2), and not from inside of what depends on them
    /// (H6).
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

    /// Whether a compaction looks at notes first.
    pub(super) fn notes_in_use(&self) -> bool {
        self.notes.is_some() && self.config.owner == WindowOwner::Proactive && self.notes_allowed()
    }

    /// The model answered with so many calls: notes are taken if they are due.
    pub(super) fn notes_after_reply(&mut self, calls: u64, now: Timestamp) {
        let (allowed, used) = (self.notes_allowed(), self.used());
        let Some(taking) = &mut self.notes else {
            return;
        };
        taking.trigger.responded(calls);
        if !allowed {
            return;
        }
        let Some(run) = taking.trigger.begin(used, now) else {
            return;
        };
        // One that never came back is given up.
        let stale = taking.running.take().map(|running| running.id);
        let edit_tool = taking.config.edit_tool.clone();
        self.outbox.extend(stale.map(|id| Effect::Cancel { id }));
        let Some((fork, betas, through)) = self.fork_for_notes(calls) else {
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

    /// The conversation to ask behind, and the last entry in it: all of it if no call is open, else all that was sent.
    fn fork_for_notes(
        &mut self,
        calls: u64,
    ) -> Option<(crate::prompt::ConversationFork, Vec<String>, String)> {
        let edits = self.cache_edits();
        let assembly = self.assembly.as_mut()?;
        if self.outdated.is_some() || assembly.must_begin_anew() {
            return None;
        }
        if calls == 0 {
            assembly.freeze();
        }
        let fork = assembly.fork(None, edits.as_deref())?;
        let betas = assembly.head().latched.betas.clone();
        let last = assembly.last_entry()?;
        let mut views = self.live.views();
        let through = views.find(|entry| entry.uuid() == Some(last))?;
        let through = through.text(through.facets.uuid).into_owned();
        Some((fork, betas, through))
    }

    /// The agent that takes notes is done, or failed.
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
            // It has no place in the chain and goes along with the next lines.
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

    /// Whether a compaction may go by the notes: one by hand with instructions goes to a model (O1), and so does one that
    /// hooks have something to say about, or whose count of tokens the provider has just disproved.
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

    /// The threshold is reached while notes are being taken. Where nothing shall be waited for (X5), the conversation goes
    /// on beside them as long as there is room. Gives whether it does.
    pub(super) fn settle_by_notes_to_come(&mut self, now: Timestamp) -> bool {
        let taking = self.notes.as_ref();
        let is_taken = taking.is_some_and(|taking| taking.trigger.wait(now) != NotesWait::No);
        let goes_on = is_taken
            && self.config.preparation == SummaryTiming::Ahead
            && self.notes_in_use()
            && self.status().level < WindowLevel::Blocking;
        if goes_on {
            self.turn.tried = true;
            self.step(now);
        }
        goes_on
    }

    /// Waits for notes that are being taken, then reads them (S6). Where nothing shall be waited for, those that there are
    /// will do: what they do not cover is kept.
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

    /// The notes are read: they stand for the older part, or a model is asked.
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
            NotesPlan::Applicable(replacement) => self
                .scope_of(&replacement)
                .zip(Summary::of_notes(&replacement.summary_text)),
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

    fn scope_of(&self, replacement: &NotesReplacement) -> Option<CompactionScope> {
        let pieces = self.live.pieces();
        let scope = CompactionScope::partial(&pieces, replacement.keep_from, PivotDirection::UpTo);
        (scope.messages(&pieces) > 0).then_some(scope)
    }

    /// Whether the notes could stand for the older part of the conversation as it is now.
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
            last_summarised: reach.map(|reach| Id::of(&reach.last_summarized_uuid)),
            pieces: &self.live.pieces(),
            entries: &entries,
            // Facts and what is put back are weighed with the whole view, before anything is written.
            beside: prefix_weight(&self.head),
            threshold: window.auto_compact,
            caps: NotesCaps::at(window.scale()),
            keep: KeepWindow::at(window.scale()),
        })
    }

    /// How many calls the newest reply makes.
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

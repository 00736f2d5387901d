//! Performs the engine's effects: those that a turn waits for while the session is driven, the others as background
//! tasks.

use std::time::Duration;

use futures_util::FutureExt;
use longhaul_core::engine::{
    CallFailure, CallResult, CompactFailure, Effect, EffectFailure, EffectFailureKind, EffectId,
    EffectOutcome, EngineInput, Event, NotesRun, Urgency,
};
use longhaul_provider::CancellationToken;

use super::Session;
use super::background::BackgroundWork;
use super::foreground::EffectResult;
use super::storage::StorageWrite;
use crate::cache_breaks::{self, CacheBreakFolder};
use crate::notes;
use crate::workspace::RestoreRequest;

/// How long to wait before the engine is asked again, where it names no time; and the shortest wait, where its time is
/// past: its clock need not run as fast as the timer.
const LONGEST_REST: Duration = Duration::from_secs(30);
const SHORTEST_REST: Duration = Duration::from_millis(50);

/// How long the session is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DriveUntil {
    /// Until nothing is left that a turn waits for.
    Idle,
    /// Until nothing is left that a turn waits for, and no background work is left.
    Rest,
    /// Until nothing is left that a turn waits for, and no notes are being taken.
    Noted,
}

/// What the session was waiting for.
enum SessionArrival {
    Brought(EffectId, Box<EffectResult>),
    Time,
    Cancelled,
}

impl Session {
    /// Feeds an input and performs what follows from it, until nothing is left that the caller waits for.
    pub(super) async fn run(&mut self, input: EngineInput) -> Option<CallResult> {
        self.recover().await;
        while let Some((id, outcome)) = self.background.ended() {
            self.feed(id, outcome.into());
        }
        self.drive(DriveUntil::Idle).await;
        (self.reply, self.result) = (None, None);
        if self.cancel.token().is_cancelled()
            && let Some(stopped) = stopped_before(&input)
        {
            // The host has already stopped what it is about to wait for.
            self.cancel.ended_a_call();
            return Some(stopped);
        }
        self.called = true;
        self.cancel_told = false;
        self.handle(input);
        self.drive(DriveUntil::Idle).await;
        self.called = false;
        let result = self.result.take();
        if result.as_ref().is_some_and(was_cancelled) {
            self.cancel.ended_a_call();
        }
        result
    }

    /// Drives background work until none is left: takes its outcomes, and starts what follows. A step also runs without
    /// being driven; driving it while tools run or while the host waits for the user lets one step follow the other.
    /// Returns at once if there is no background work. Nothing is lost if this future is dropped half-way, as `select!`
    /// does.
    pub async fn drive_background(&mut self) {
        self.recover().await;
        self.drive(DriveUntil::Rest).await;
    }

    /// Ends the session. Notes that are being taken are waited for, but no longer than this; all other background work
    /// is given up. Dropping a session gives up the notes, too; the file is complete in any case.
    pub async fn close(mut self, patience: Duration) {
        self.recover().await;
        let noted = tokio::time::timeout(patience, self.drive(DriveUntil::Noted)).await;
        if noted.is_err() {
            tracing::warn!("notes were being taken and are given up: the session was closed");
        }
        // Lines that the engine holds back until something else is written are written now.
        if self.foreground.is_empty() && self.engine.is_idle() {
            self.handle(EngineInput::Add(Vec::new()));
            self.drive(DriveUntil::Idle).await;
        }
    }

    /// The number of background effects that are running.
    pub fn background_count(&self) -> usize {
        self.background.count()
    }

    /// Treats a call that was dropped half-way as cancelled.
    async fn recover(&mut self) {
        if !std::mem::take(&mut self.called) {
            return;
        }
        for id in self.foreground.give_up() {
            let outcome = EffectOutcome::Failed(EffectFailure::cancelled("the call was dropped"));
            self.feed(id, outcome.into());
        }
        self.handle(EngineInput::Cancel);
        self.drive(DriveUntil::Idle).await;
    }

    async fn drive(&mut self, until: DriveUntil) {
        loop {
            while let Some(effect) = self.engine.poll() {
                self.perform(effect);
            }
            let idle = self.foreground.is_empty() && self.engine.is_idle();
            let done = match until {
                DriveUntil::Idle => true,
                DriveUntil::Rest => self.background.count() == 0,
                DriveUntil::Noted => !self.background.has(BackgroundWork::Notes),
            };
            if idle && done || !self.is_waiting() {
                return;
            }
            match self.arrival().await {
                SessionArrival::Brought(id, brought) => self.feed(id, *brought),
                SessionArrival::Time => self.handle(EngineInput::Wake),
                SessionArrival::Cancelled => {
                    self.cancel_told = true;
                    self.cancel.ended_a_call();
                    self.handle(EngineInput::Cancel);
                }
            }
        }
    }

    /// Whether anything can still happen.
    fn is_waiting(&self) -> bool {
        self.storage.is_busy()
            || !self.foreground.is_empty()
            || self.background.count() > 0
            || self.engine.deadline().is_some()
    }

    /// Waits for what happens next. Dropping this loses nothing.
    async fn arrival(&mut self) -> SessionArrival {
        let deadline = self.engine.deadline();
        let rest = deadline.map(|at| self.clock.now().duration_until(at));
        let rest = rest.map_or(LONGEST_REST, |rest| {
            Duration::try_from(rest).unwrap_or_default()
        });
        // Awaited effects notice a cancellation by themselves, and so does whatever follows a write. Background effects
        // that a turn waits for do not: they are not the turn's own.
        let hears = self.storage.is_busy() || !self.foreground.is_empty() || self.engine.is_idle();
        let cancel = self.cancel.token();
        tokio::select! {
            (id, outcome) = self.storage.next() => SessionArrival::Brought(id, Box::new(outcome.into())),
            (id, brought) = self.foreground.next() => SessionArrival::Brought(id, Box::new(brought)),
            (id, outcome) = self.background.next() => SessionArrival::Brought(id, Box::new(outcome.into())),
            () = cancel.cancelled(), if !hears && !self.cancel_told => SessionArrival::Cancelled,
            () = tokio::time::sleep(rest.max(SHORTEST_REST)) => SessionArrival::Time,
        }
    }

    fn feed(&mut self, id: EffectId, brought: EffectResult) {
        let EffectResult { outcome, reply } = brought;
        if reply.is_some() {
            self.reply = reply.map(|reply| *reply);
        }
        self.handle(EngineInput::Done { id, outcome });
    }

    fn handle(&mut self, input: EngineInput) {
        self.engine.handle(input, self.clock.now());
    }

    /// Performs what can be done at once, and starts the rest.
    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Persist { id, lines } => self.store(id, StorageWrite::Lines(lines)),
            Effect::Archive {
                id,
                entries,
                results,
            } => self.store(id, StorageWrite::Archive(entries, results)),
            Effect::Send { id, request } => {
                let cancel = self.cancel.token();
                let sent = self.effect_runner.clone().send(request, cancel);
                self.foreground.begin(id, Box::pin(sent));
            }
            Effect::Summarize {
                id,
                request,
                urgency,
            } => {
                let cancel = self.cancel_for(urgency);
                let asked = self
                    .effect_runner
                    .clone()
                    .summarize(request, urgency, cancel);
                self.begin(id, urgency, asked);
            }
            Effect::Gather { id, files, kept } => {
                let gathered = self
                    .effect_runner
                    .clone()
                    .gather(RestoreRequest { files, kept });
                self.begin(id, Urgency::Awaited, gathered);
            }
            Effect::RunHooks { id, call, urgency } => {
                let cancel = self.cancel_for(urgency);
                let mut ran = Box::pin(self.effect_runner.clone().run_hooks(call, cancel));
                // Where there are no hooks, what follows need not wait until the session is driven again.
                match (&mut ran).now_or_never() {
                    Some(outcome) => self.feed(id, outcome.into()),
                    None => self.begin(id, urgency, ran),
                }
            }
            Effect::TakeNotes { id, run } => self.take_notes(id, *run),
            Effect::ReadNotes { id } => {
                let read = self
                    .effect_runner
                    .notes
                    .as_ref()
                    .map(|place| place.on_disk());
                let outcome = EffectOutcome::NotesRead(Box::new(read.unwrap_or_default()));
                self.feed(id, outcome.into());
            }
            Effect::Cancel { id } => {
                self.foreground.cancel(id);
                self.background.cancel(id);
            }
            Effect::Notify(event) => self.notify(&event),
            Effect::Finish(result) => self.result = Some(result),
        }
    }

    fn store(&mut self, id: EffectId, writing: StorageWrite) {
        if let Some(outcome) = self.storage.begin(id, writing) {
            self.feed(id, outcome.into());
        }
    }

    fn take_notes(&mut self, id: EffectId, run: NotesRun) {
        let Some(place) = self.effect_runner.notes.clone() else {
            self.feed(id, other("there is no place for notes".to_owned()).into());
            return;
        };
        let model = self.effect_runner.model.clone();
        let noted = async move {
            let taken = notes::take(model, &place, run).await;
            EffectOutcome::Noted(Box::new(taken))
        };
        self.background.begin(id, BackgroundWork::Notes, noted);
    }

    fn begin(
        &mut self,
        id: EffectId,
        urgency: Urgency,
        work: impl Future<Output = EffectOutcome> + Send + 'static,
    ) {
        match urgency {
            Urgency::Awaited => {
                let work = async move { EffectResult::from(work.await) };
                self.foreground.begin(id, Box::pin(work));
            }
            Urgency::Background => self.background.begin(id, BackgroundWork::Preparation, work),
        }
    }

    /// A cancellation by the user ends what the user waits for, and nothing else.
    fn cancel_for(&self, urgency: Urgency) -> CancellationToken {
        match urgency {
            Urgency::Awaited => self.cancel.token(),
            Urgency::Background => CancellationToken::new(),
        }
    }

    fn notify(&mut self, event: &Event) {
        if let Event::CacheBreak(finding) = event {
            match &self.effect_runner.session_info.cache_breaks {
                Some(folder) => {
                    let told = CacheBreakFolder::below(folder).report(finding);
                    tracing::info!("{}", told.sentence);
                }
                None => cache_breaks::record(finding, None),
            }
        }
        if let Event::Compacted(_) = event {
            self.compactions += 1;
        }
        crate::telemetry::record(event);
        self.effect_runner.observer.event(event);
    }
}

/// The result of a call that the host cancelled before it began; `None` for calls that never wait for long.
fn stopped_before(input: &EngineInput) -> Option<CallResult> {
    let failure = match input {
        EngineInput::Turn => {
            CallFailure::NotAnswered(EffectFailure::cancelled("cancelled before it began"))
        }
        EngineInput::Compact(_) => CallFailure::NotCompacted(
            CompactFailure::Cancelled,
            "the compaction was cancelled before it began; nothing was changed".to_owned(),
        ),
        _ => return None,
    };
    Some(CallResult::Failed(failure))
}

/// Whether a call ended because it was cancelled.
fn was_cancelled(result: &CallResult) -> bool {
    match result {
        CallResult::Failed(CallFailure::NotAnswered(failed)) => {
            failed.kind == EffectFailureKind::Cancelled
        }
        CallResult::Failed(CallFailure::NotCompacted(kind, _)) => {
            *kind == CompactFailure::Cancelled
        }
        _ => false,
    }
}

fn other(message: String) -> EffectOutcome {
    EffectOutcome::Failed(EffectFailure::other(message))
}

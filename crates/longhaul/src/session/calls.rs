//! The calls of a host: what it says, turns, compactions. A call feeds the engine an input, performs the effects that follow
//! until nothing is left that the call waits for, and ends with the engine's result. The effects run in
//! `running_effects.rs`; `effect_runner.rs` performs those that take longer.

use std::time::Duration;

use futures_util::FutureExt;
use longhaul_core::engine::{
    CallFailure, CallResult, CompactFailure, CompactRequest, Effect, EffectFailure,
    EffectFailureKind, EffectId, EffectOutcome, EngineInput, Event, NewEntry, NotesRun, ToolOutput,
    Urgency,
};
use longhaul_provider::{CancellationToken, Reply};

use super::lost_replies::LostReply;
use super::running_effects::{BackgroundWork, EffectResult, StorageWrite};
use super::{CompactError, CompactOutcome, Session, TurnError};
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
    /// A reply was lost.
    Lost,
    Time,
    Cancelled,
}

impl Session {
    /// Adds a message of the user.
    ///
    /// # Errors
    /// Fails if the message cannot be written. It is kept and written with the next turn.
    pub async fn say(&mut self, text: impl Into<String>) -> Result<(), TurnError> {
        self.add(vec![NewEntry::text(text)]).await
    }

    /// Adds the results of tools.
    ///
    /// # Errors
    /// Fails if the results cannot be written. They are kept and written with the next turn.
    pub async fn results(&mut self, outputs: Vec<ToolOutput>) -> Result<(), TurnError> {
        self.add(vec![NewEntry::ToolResults(outputs)]).await
    }

    /// Adds entries to the conversation. They are on disk when this returns.
    ///
    /// # Errors
    /// Fails if the entries cannot be written. They are kept and written with the next turn.
    pub async fn add(&mut self, entries: Vec<NewEntry>) -> Result<(), TurnError> {
        match self.run(EngineInput::Add(entries)).await {
            Some(CallResult::Failed(failure)) => Err(failure.into()),
            _ => Ok(()),
        }
    }

    /// Asks the model for its next turn: clears and compacts first where that is due, and recovers if the provider
    /// finds the request too long. The reply is on disk when this returns.
    ///
    /// # Errors
    /// Fails if the model does not answer ([`TurnError::Failed`] says why and when to try again), if the window is full
    /// and nothing is allowed to change that, and if something cannot be written. Nothing is lost: call it again.
    pub async fn turn(&mut self) -> Result<Reply, TurnError> {
        let result = self.run(EngineInput::Turn).await;
        match (result, self.reply.take()) {
            (Some(CallResult::Replied { .. }), Some(reply)) => Ok(reply),
            (Some(CallResult::Failed(failure)), _) => Err(failure.into()),
            _ => Err(TurnError::Failed(EffectFailure::other(
                "the turn ended without a reply",
            ))),
        }
    }

    /// Compacts the conversation on request.
    ///
    /// # Errors
    /// Fails if there is nothing to compact, if a hook blocks it, if no summary can be had, and if it cannot be
    /// written. The conversation is then as it was.
    pub async fn compact(
        &mut self,
        request: CompactRequest,
    ) -> Result<CompactOutcome, CompactError> {
        match self.run(EngineInput::Compact(request)).await {
            Some(CallResult::Compacted(done)) => Ok(CompactOutcome::Done(done)),
            Some(CallResult::Previewed(preview)) => Ok(CompactOutcome::Preview(preview)),
            Some(CallResult::Failed(CallFailure::NotCompacted(kind, message))) => {
                Err(CompactError { kind, message })
            }
            Some(CallResult::Failed(failure)) => Err(CompactError {
                kind: CompactFailure::NotPersisted,
                message: TurnError::from(failure).to_string(),
            }),
            _ => Err(CompactError {
                kind: CompactFailure::NotPersisted,
                message: "the compaction ended without a result".to_owned(),
            }),
        }
    }

    /// Feeds an input and performs what follows from it, until nothing is left that the caller waits for.
    async fn run(&mut self, input: EngineInput) -> Option<CallResult> {
        self.recover().await;
        while let Some((id, outcome)) = self.running.ended_in_background() {
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
        if !self.running.has_awaited() && self.engine.is_idle() {
            self.handle(EngineInput::Add(Vec::new()));
            self.drive(DriveUntil::Idle).await;
        }
    }

    /// The number of background effects that are running.
    pub fn background_count(&self) -> usize {
        self.running.background_count()
    }

    /// Treats a call that was dropped half-way as cancelled.
    async fn recover(&mut self) {
        if !std::mem::take(&mut self.called) {
            return;
        }
        for id in self.running.give_up() {
            let outcome = EffectOutcome::Failed(EffectFailure::cancelled("the call was dropped"));
            self.feed(id, outcome.into());
        }
        self.handle(EngineInput::Cancel);
        self.drive(DriveUntil::Idle).await;
    }

    async fn drive(&mut self, until: DriveUntil) {
        loop {
            self.report_lost_replies();
            while let Some(effect) = self.engine.poll() {
                self.perform(effect);
            }
            let idle = !self.running.has_awaited() && self.engine.is_idle();
            let done = match until {
                DriveUntil::Idle => true,
                DriveUntil::Rest => self.running.background_count() == 0,
                DriveUntil::Noted => !self.running.has_in_background(BackgroundWork::Notes),
            };
            if idle && done || !self.is_waiting() {
                return;
            }
            match self.arrival().await {
                SessionArrival::Brought(id, brought) => self.feed(id, *brought),
                SessionArrival::Lost => {}
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
        self.running.is_writing()
            || self.running.has_awaited()
            || self.running.background_count() > 0
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
        let running = &mut self.running;
        let hears = running.is_writing() || running.has_awaited() || self.engine.is_idle();
        let cancel = self.cancel.token();
        let lost = &self.effect_runner.lost;
        tokio::select! {
            (id, brought) = running.next() => SessionArrival::Brought(id, Box::new(brought)),
            () = cancel.cancelled(), if !hears && !self.cancel_told => SessionArrival::Cancelled,
            () = lost.came() => SessionArrival::Lost,
            () = tokio::time::sleep(rest.max(SHORTEST_REST)) => SessionArrival::Time,
        }
    }

    fn feed(&mut self, id: EffectId, brought: EffectResult) {
        let EffectResult { outcome, reply } = brought;
        if reply.is_some() {
            self.reply = reply.map(|reply| *reply);
        }
        self.report_lost_replies();
        self.handle(EngineInput::Done { id, outcome });
    }

    /// Tells the engine what was billed for replies that it does not get.
    fn report_lost_replies(&mut self) {
        for LostReply { source, usage } in self.effect_runner.lost.take() {
            self.handle(EngineInput::ReplyLost { source, usage });
        }
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
                self.running.begin(id, sent);
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
            Effect::Cancel { id } => self.running.cancel(id),
            Effect::Notify(event) => self.notify(&event),
            Effect::Finish(result) => self.result = Some(result),
        }
    }

    fn store(&mut self, id: EffectId, writing: StorageWrite) {
        if let Some(outcome) = self.running.write(id, writing) {
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
        self.running
            .begin_in_background(id, BackgroundWork::Notes, noted);
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
                self.running.begin(id, work);
            }
            Urgency::Background => {
                self.running
                    .begin_in_background(id, BackgroundWork::Preparation, work);
            }
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
            CallFailure::NotAnswered(EffectFailure::cancelled("canceled before it began"))
        }
        EngineInput::Compact(_) => CallFailure::NotCompacted(
            CompactFailure::Cancelled,
            "the compaction was canceled before it began; nothing was changed".to_owned(),
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

//! The engine: decides, and requests effects (O).
//!
//! It is a state machine without IO. The caller feeds it [`EngineInput`]s with the time, performs the [`Effect`]s it
//! polls, and feeds the outcomes back. This file says what follows when lines are on disk, `not_persisted.rs` what follows
//! when they are not. `turn.rs` is the course of a turn, `economy.rs` what is decided by price in it, `clear.rs`
//! micro-compaction during a turn, `compact.rs` the course of a compaction (`compaction_in_progress.rs`), `not_compacted.rs`
//! how a compaction ends without a result, `summarize.rs` the requests for a summary, `accept_draft.rs` whether its draft is
//! used, `commit.rs` how that is written and the state after it (`commit_lines.rs`: what the boundary says),
//! `after_compaction.rs` the state that is reset. A crash between any two effects leaves a transcript from which the
//! conversation can go on.

mod accept_draft;
mod after_compaction;
mod best_draft;
mod calibration;
mod clear;
mod commit;
mod commit_lines;
mod compact;
mod compaction_in_progress;
mod config;
mod deletion;
mod discovered;
mod draft;
mod draft_level;
mod economy;
mod effect;
mod effect_id;
mod event;
mod fold;
mod fold_in_progress;
mod growth;
mod ids;
mod input;
mod line;
mod live;
mod lost_reply;
mod not_compacted;
mod not_persisted;
mod notes;
mod prefix_additions;
mod prefix_count;
mod preparation;
mod priced_view;
mod provider;
mod reduce;
mod result;
mod result_index;
mod signed_summary;
mod sizes;
mod summarize;
mod summary_request_state;
mod turn;
mod unanswered;
mod user_words_state;
mod view_draft;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

pub use crate::config::SummarizerSetting;
pub use crate::prompt::ToolOutput;
pub use after_compaction::{HostReset, HostState};
pub use config::{
    CacheEditSupport, EngineConfig, NotesConfig, PrefixRecording, ReplyDelivery, SessionIdentity,
    SummaryModel, SummaryTiming,
};
pub use effect::{CompactionHook, Effect, ModelRequest, NotesRun, Urgency};
pub use effect_id::EffectId;
pub use event::{
    CompactFailure, CompactionPhase, CompactionSuccess, Event, NotesEvent, PrefixChangeTime,
    PreparationEvent, PreviewedSummary, Summarizer,
};
pub(crate) use growth::{WindowGrowth, longest_lead};
pub use ids::UuidSequence;
pub use input::{
    CompactRequest, EffectFailure, EffectFailureKind, EffectOutcome, EngineInput, GatheredContext,
    HookOutcome, ModelReply, NotesOnDisk, NotesRunOutcome, OnModelFailure, Pivot, ReplyEnding,
    SummaryReply,
};
pub use line::{EntryAudience, NewEntry};
pub use live::{LiveConversation, LiveEntry};
pub(crate) use lost_reply::LOST_REPLY;
pub(crate) use prefix_count::PrefixCount;
pub use result::{CallFailure, CallResult};

use crate::cache::{self, CacheBreakDetector, WatchedCallId};
use crate::facts::{Facts, Vocabulary};
use crate::hash::Set;
use crate::message::{Entry, Id, Usage};
use crate::micro::CacheEditState;
use crate::micro::native::ProviderClearing;
use crate::plan::{CompactionTracking, Recompaction};
use crate::prompt::{PrefixReason, PushOutcome, RequestAssembly, RequestPrefix};
use crate::rehydrate::ReadFiles;
use crate::window::WindowStatus;
use compaction_in_progress::CompactionInProgress;
use reduce::{AfterAddition, OriginalSafety, PendingAddition};

/// Runs one conversation.
///
#[doc = include_str!("example.md")]
#[derive(Debug)]
pub struct Engine {
    config: EngineConfig,
    ids: UuidSequence,
    live: LiveConversation,
    /// The request prefix that the host wants.
    prefix: RequestPrefix,
    /// The request prefix that the host wants from the next compaction on, if it is a different one.
    next_prefix: Option<RequestPrefix>,
    /// The known size of the request prefix while no reply has measured the view.
    prefix_count: Option<prefix_count::PrefixCount>,
    /// The rendering with its request prefix. None until the first request.
    assembly: Option<RequestAssembly>,
    /// Why the rendering is no longer valid, if it is not.
    outdated: Option<PrefixReason>,
    generation: u64,
    watch: CacheBreakDetector,
    watched_prefix: Option<Arc<cache::PrefixFingerprint>>,
    /// Modes that the cache-break detector names when they change (D1).
    modes: Arc<cache::HostModes>,
    cached: CacheEditState,
    /// Deletions that no reply has measured yet.
    deletion: deletion::PendingDeletion,
    /// The provider's own clearing for the last reply.
    native: ProviderClearing,
    /// Decisions by price.
    economy: economy::EconomyState,
    tracking: CompactionTracking,
    growth: WindowGrowth,
    /// The usage of previews since the last compaction. Events have told of it; the next boundary records it.
    previewed: Option<Usage>,
    /// The session notes, if they are taken.
    notes: Option<notes::NotesScheduler>,
    /// Work in the background of the conversation.
    ahead: preparation::SummaryPreparation,
    turn: turn::TurnProgress,
    /// The host cancelled its call while lines were being written: the call ends when they are on disk.
    cancelled: bool,
    /// A manual compaction that is done but not reported until its hooks have run.
    compacted: Option<Box<CompactionSuccess>>,
    state: EngineState,
    /// Lines that could not be written: they go first at the next attempt.
    unwritten: Vec<Bytes>,
    /// Whether lost replies are recorded.
    lost_replies: lost_reply::LostReplyRecords,
    /// Entries that the host added while something was in progress: they come after its result.
    queued: Vec<NewEntry>,
    outbox: VecDeque<Effect>,
    next_effect: u64,
}

/// What the engine is waiting for.
#[derive(Debug)]
enum EngineState {
    Idle,
    /// Lines are being written; the second field says what follows.
    Persisting(EffectId, Box<AfterPersist>),
    /// The results of a clearing are being archived.
    Archiving(EffectId, Box<crate::micro::PlannedClearing>),
    /// The originals of results that are made smaller are being archived.
    ArchivingOriginals(EffectId, Box<PendingAddition>),
    /// The model is generating a reply.
    Sending(EffectId, WatchedCallId),
    Compacting(Box<CompactionInProgress>),
}

/// What follows when lines are on disk.
#[derive(Debug)]
enum AfterPersist {
    /// Nothing follows.
    Rest(Vec<Bytes>),
    /// The added entries are reported to be on disk, or why some of them cannot be written.
    Added(Vec<Bytes>, Option<String>),
    /// The turn continues: lines that could not be written before are on disk now.
    CaughtUp(Vec<Bytes>),
    /// The manual compaction begins: lines that could not be written before are on disk now.
    Compact(Vec<Bytes>, Box<CompactRequest>),
    /// The turn continues after a clearing.
    Cleared(Vec<Bytes>),
    /// The request is sent.
    Send(Vec<Bytes>),
    /// The summary is requested.
    Summarize(Vec<Bytes>, Box<CompactionInProgress>),
    /// The reply is reported.
    Replied(Vec<Bytes>, Box<turn::PendingReply>),
    /// The compaction takes effect.
    Committed(Box<commit::PendingCommit>),
    /// The output of the hooks after a compaction is on disk.
    Finished(Vec<Bytes>, compaction_in_progress::AfterCompaction),
}

/// A conversation to resume.
#[derive(Debug, Default)]
pub struct EngineResume {
    /// The live view in its order.
    pub entries: Vec<LiveEntry>,
    /// Entries of the view that a boundary preserved.
    pub preserved: Vec<Id>,
    /// The rendering of the previous process.
    pub assembly: Option<RequestAssembly>,
    /// The request prefix from the next compaction on, if the host wants a different one.
    pub next_head: Option<RequestPrefix>,
    /// The facts of the session, if the view alone does not hold them.
    pub facts: Option<Facts>,
}

impl Engine {
    /// Resumes a conversation, or begins one. `head` is the request prefix; where the resumed rendering has an
    /// equivalent prefix, its bytes are used.
    pub fn new(
        config: EngineConfig,
        ids: UuidSequence,
        head: RequestPrefix,
        resume: EngineResume,
    ) -> Self {
        let facts = resume
            .facts
            .unwrap_or_else(|| Facts::new(Arc::new(Vocabulary::default())));
        let preserved: Set<Id> = resume.preserved.into_iter().collect();
        let live =
            LiveConversation::begin(resume.entries, preserved, config.clearable.clone(), facts);
        let cached = CacheEditState::of(live.cache_edits());
        let tracking = match live.boundary() {
            Some(boundary) => {
                CompactionTracking::resumed(Recompaction::turn_of(boundary), live.replies())
            }
            None => CompactionTracking::default(),
        };
        let deletion = deletion::PendingDeletion::after(live.cache_deleted());
        let economy =
            economy::EconomyState::new(config.economy, Self::priced_terms(&config, &head), &live);
        let mut engine = Self {
            ids,
            prefix_count: known_prefix_count(&live, &config),
            live,
            prefix: head,
            next_prefix: resume.next_head,
            assembly: resume.assembly,
            outdated: None,
            generation: 0,
            watch: CacheBreakDetector::new(cache::is_small_model),
            watched_prefix: None,
            modes: Arc::new(own_modes(&config)),
            cached,
            deletion,
            native: ProviderClearing::default(),
            economy,
            tracking,
            growth: WindowGrowth::default(),
            lost_replies: lost_reply::LostReplyRecords::Written,
            previewed: None,
            notes: (config.notes.clone())
                .map(|notes| notes::NotesScheduler::new(notes, config.window.scale())),
            ahead: preparation::SummaryPreparation::default(),
            turn: turn::TurnProgress::default(),
            cancelled: false,
            compacted: None,
            state: EngineState::Idle,
            unwritten: Vec::new(),
            queued: Vec::new(),
            outbox: VecDeque::new(),
            next_effect: 0,
            config,
        };
        // The last request determines how much thinking is kept, if there was one.
        let sent = engine.assembly.as_ref().map(RequestAssembly::prefix);
        let keep = prefix_additions::kept_thinking(sent.unwrap_or(&engine.prefix));
        engine.prefix = engine.with_engine_additions(engine.prefix.clone(), keep);
        if let Some(what) = engine.next_prefix.as_ref().and_then(|next| {
            let before = engine.assembly.as_ref()?.prefix();
            before.difference(&engine.with_engine_additions(next.clone(), keep))
        }) {
            let from = PrefixChangeTime::NextCompaction;
            engine.notify(Event::PrefixChanged { what, from });
        } else {
            engine.next_prefix = None;
        }
        engine
    }

    /// Watches the cache of small models, too (D3).
    #[must_use]
    pub fn watching_small_models(mut self) -> Self {
        self.watch = CacheBreakDetector::default();
        self
    }

    /// Records no lost replies: for a conversation that must not be changed by what comes to nothing.
    #[must_use]
    pub fn without_lost_replies(mut self) -> Self {
        self.lost_replies = lost_reply::LostReplyRecords::Never;
        self
    }

    /// Takes over the cache knowledge of an engine that ran the same conversation before, so that a request that reads
    /// less than that engine's last one is explained (D1).
    pub fn take_over_cache_watch(&mut self, before: &mut Self) {
        std::mem::swap(&mut self.watch, &mut before.watch);
        self.modes = before.modes.clone();
        // The detector tells renderings apart by this number.
        self.generation = self.generation.max(before.generation + 1);
    }

    /// Takes an input. The caller then polls the effects.
    pub fn handle(&mut self, input: EngineInput, now: Timestamp) {
        match input {
            EngineInput::Add(entries) => self.add(&entries, now),
            EngineInput::Turn => {
                self.cancelled = false;
                self.begin_turn(now);
            }
            EngineInput::Compact(request) => {
                self.cancelled = false;
                self.compact_by_hand(request, now);
            }
            EngineInput::Head(head) => {
                // The host has made a new decision.
                self.next_prefix = None;
                let keep = prefix_additions::kept_thinking(&self.prefix);
                self.prefix = self.with_engine_additions(*head, keep);
            }
            EngineInput::Mode { name, value } => {
                let modes = Arc::make_mut(&mut self.modes);
                match value {
                    Some(value) => modes.insert(name, value),
                    None => modes.remove(&name),
                };
            }
            EngineInput::Thinking { think, effort } => self.set_thinking(think, effort),
            EngineInput::Economy(policy) => self.set_economy(policy),
            EngineInput::Done { id, outcome } => self.done(id, outcome, now),
            EngineInput::ReplyLost { source, usage } => self.reply_lost(source, usage, now),
            EngineInput::Cancel => self.cancel(now),
            EngineInput::Wake => self.wake(now),
        }
        if matches!(self.state, EngineState::Idle) && !self.queued.is_empty() {
            let queued = std::mem::take(&mut self.queued);
            let added = self.added_lines(&queued, now);
            self.write_added(added, AfterAddition::Rest);
        }
        self.write_lost_replies();
    }

    /// The next effect to perform.
    pub fn poll(&mut self) -> Option<Effect> {
        self.outbox.pop_front()
    }

    /// Whether no turn and no compaction waits for anything. Notes or a prepared summary may be in progress.
    pub fn is_idle(&self) -> bool {
        matches!(self.state, EngineState::Idle) && self.outbox.is_empty()
    }

    /// When to wake the engine, if nothing else happens before.
    pub fn deadline(&self) -> Option<Timestamp> {
        match &self.state {
            EngineState::Compacting(compaction) => match compaction.stage {
                compaction_in_progress::CompactionStage::AwaitingNotes(until) => {
                    Some(until.min(compaction.keep_alive))
                }
                _ => Some(compaction.keep_alive),
            },
            _ => None,
        }
    }

    /// The conversation.
    pub fn live(&self) -> &LiveConversation {
        &self.live
    }

    /// The files that the host showed to the model; the host records its reads here.
    pub fn read_files_mut(&mut self) -> &mut ReadFiles {
        self.live.read_files_mut()
    }

    /// The current state of the window.
    pub fn status(&self) -> WindowStatus {
        self.config.window.at(self.used())
    }

    /// The rendering, once there is one.
    pub fn assembly(&self) -> Option<&RequestAssembly> {
        self.assembly.as_ref()
    }

    fn effect_id(&mut self) -> EffectId {
        self.next_effect += 1;
        EffectId(self.next_effect)
    }

    fn notify(&mut self, event: Event) {
        self.outbox.push_back(Effect::Notify(event));
    }

    /// Ends the host's call.
    fn finish_call(&mut self, result: CallResult) {
        self.outbox.push_back(Effect::Finish(result));
    }

    /// Ends the host's call with a failure.
    fn fail_call(&mut self, failure: CallFailure) {
        self.finish_call(CallResult::Failed(failure));
    }

    /// Ends the host's call with a failed compaction.
    fn fail_compaction(&mut self, kind: CompactFailure, message: String) {
        self.fail_call(CallFailure::NotCompacted(kind, message));
    }

    /// Requests that lines are written, those first that could not be written before.
    fn persist(&mut self, lines: Vec<Bytes>, then: impl FnOnce(Vec<Bytes>) -> AfterPersist) {
        let mut all = std::mem::take(&mut self.unwritten);
        if self.lost_replies == lost_reply::LostReplyRecords::Pending {
            self.lost_replies = lost_reply::LostReplyRecords::Written;
        }
        all.extend(lines);
        let id = self.effect_id();
        self.outbox.push_back(Effect::Persist {
            id,
            lines: all.clone(),
        });
        self.state = EngineState::Persisting(id, Box::new(then(all)));
    }

    fn done(&mut self, id: EffectId, outcome: EffectOutcome, now: Timestamp) {
        // Background work leaves the conversation unchanged.
        if self.notes.as_ref().is_some_and(|notes| notes.awaits(id)) {
            return self.noted(outcome, now);
        }
        let Some(outcome) = self.prepared_done(id, outcome, now) else {
            return;
        };
        let state = std::mem::replace(&mut self.state, EngineState::Idle);
        match state {
            EngineState::Persisting(awaited, then) if awaited == id => match outcome {
                EffectOutcome::Persisted { offset } => self.persisted(*then, offset, now),
                EffectOutcome::Failed(failed) => self.not_persisted(*then, &failed),
                // Whatever else this means, the lines are not known to be safe.
                _ => self.not_persisted(*then, &EffectFailure::of_another_kind()),
            },
            EngineState::Archiving(awaited, clearing) if awaited == id => match outcome {
                EffectOutcome::Archived => {
                    let count = clearing.results.len() as u64;
                    self.archived(*clearing, count, now);
                }
                EffectOutcome::NoArchive => self.archived(*clearing, 0, now),
                // Results that are not safe stay in the window; the turn continues without the clearing.
                _ => self.step(now),
            },
            EngineState::ArchivingOriginals(awaited, pending) if awaited == id => {
                let safety = match outcome {
                    EffectOutcome::Archived | EffectOutcome::NoArchive => OriginalSafety::Safe,
                    _ => OriginalSafety::NotArchived,
                };
                self.originals_archived(*pending, safety);
            }
            EngineState::Sending(awaited, call) if awaited == id => {
                self.answered(call, outcome, now)
            }
            EngineState::Compacting(compaction) if compaction.awaits == Some(id) => {
                self.compaction_goes_on(*compaction, outcome, now);
            }
            // Nothing waits for this outcome any more.
            other => self.state = other,
        }
    }

    fn persisted(&mut self, then: AfterPersist, offset: u64, now: Timestamp) {
        match then {
            AfterPersist::Rest(lines) => self.take(&lines, offset),
            AfterPersist::Added(lines, lost) => {
                self.take(&lines, offset);
                self.finish_call(match lost {
                    None => CallResult::Added,
                    Some(message) => CallResult::Failed(CallFailure::NotPersisted(message)),
                });
            }
            AfterPersist::CaughtUp(lines) => {
                self.take(&lines, offset);
                self.step(now);
            }
            AfterPersist::Cleared(lines) => {
                self.take(&lines, offset);
                self.results_cleared();
                self.step(now);
            }
            AfterPersist::Compact(lines, request) => {
                self.take(&lines, offset);
                if self.is_cancelled() {
                    self.compact_refused(CompactFailure::Cancelled);
                } else {
                    self.compact_by_hand(*request, now);
                }
            }
            AfterPersist::Send(lines) => {
                self.take_ours(&lines, offset);
                if self.is_cancelled() {
                    self.turn_cancelled();
                } else {
                    self.send(now);
                }
            }
            AfterPersist::Summarize(lines, compaction) => {
                self.take_ours(&lines, offset);
                if compaction.place == compaction_in_progress::CompactionTiming::Awaited
                    && self.is_cancelled()
                {
                    self.compaction_cancelled(*compaction, now);
                } else {
                    self.rescope(*compaction, now);
                }
            }
            AfterPersist::Replied(lines, answer) => {
                self.take(&lines, offset);
                self.reply_persisted(*answer, now);
            }
            AfterPersist::Committed(commit) => self.committed(*commit, offset, now),
            AfterPersist::Finished(lines, after) => {
                self.take(&lines, offset);
                self.after_compaction(after, now);
            }
        }
    }

    /// Adds lines that are on disk to the conversation.
    fn take(&mut self, lines: &[Bytes], offset: u64) {
        let mut offset = offset;
        for line in lines {
            // A line that was made here is readable. One that is not is on disk, and every reader reports it.
            if let Ok(entry) = Entry::read(line.clone()) {
                if let Some(assembly) = &mut self.assembly
                    && assembly.push(entry.view()) != PushOutcome::Pushed
                {
                    self.outdated.get_or_insert(PrefixReason::Cleared);
                }
                let kept = LiveEntry {
                    entry,
                    offset: Some(offset),
                };
                self.push_live(kept);
            }
            offset += line.len() as u64 + 1;
        }
        self.cached = CacheEditState::of(self.live.cache_edits());
    }

    /// Adds lines from [`RequestAssembly::entries_before_request`] that are on disk to the conversation.
    fn take_ours(&mut self, lines: &[Bytes], offset: u64) {
        let mut offset = offset;
        if let Some(assembly) = &mut self.assembly {
            // A line that was made here is readable.
            let _ = assembly.persisted(lines);
        }
        for line in lines {
            if let Ok(entry) = Entry::read(line.clone()) {
                let kept = LiveEntry {
                    entry,
                    offset: Some(offset),
                };
                if kept.entry.facets().uuid.is_present() {
                    self.push_live(kept);
                }
            }
            offset += line.len() as u64 + 1;
        }
        self.cached = CacheEditState::of(self.live.cache_edits());
    }
}

/// The count of the request prefix, according to the boundary that a view begins with.
fn known_prefix_count(
    live: &LiveConversation,
    config: &EngineConfig,
) -> Option<prefix_count::PrefixCount> {
    prefix_count::PrefixCount::of_boundary(live.boundary()?, &config.model.id)
}

/// The modes that the engine itself decides: whether results are dropped from the cache by reference.
fn own_modes(config: &EngineConfig) -> cache::HostModes {
    let cached_micro = match config.cache_edits {
        CacheEditSupport::Supported => "on",
        CacheEditSupport::Unsupported => "off",
    };
    cache::HostModes::from([("cached_micro".to_owned(), cached_micro.to_owned())])
}

//! What the engine tells (E1). Events are data: a screen shows them, a log keeps them, metrics count them.

use serde::Serialize;

use super::after_compaction::HostReset;
use super::input::NotesRunOutcome;
use crate::boundary::CompactionTrigger;
use crate::cache::CacheFinding;
use crate::message::Usage;
use crate::micro::MicroClearingReason;
use crate::money::Usd;
use crate::notes;
use crate::plan::Recompaction;
use crate::prompt::PrefixReason;
use crate::report::LossReport;

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// What is going on; none: nothing any more (F8).
    Phase(Option<CompactionPhase>),
    /// A compaction is still going on: repeated every 30 seconds.
    StillCompacting {
        /// For how many seconds.
        seconds: u64,
    },
    /// The model answered, and the reply is on disk.
    Replied {
        /// The uuid of its entry.
        uuid: String,
        /// What it measured.
        usage: Usage,
        /// What it cost, where prices are known.
        cost: Option<Usd>,
    },
    /// A reply ran out of room and was withheld: the conversation is smaller now, and the turn is tried again (O3).
    Withheld {
        /// What it measured: it is billed.
        usage: Usage,
        /// What it cost, where prices are known.
        cost: Option<Usd>,
    },
    /// The turn failed; the conversation is as it was.
    TurnFailed {
        /// For people.
        message: String,
    },
    /// Input is refused (O5).
    Refused {
        /// For people, with what to do.
        message: String,
    },
    /// Results were cleared.
    MicroCompacted {
        /// Why.
        reason: MicroClearingReason,
        /// How many.
        results: usize,
        /// Tokens saved.
        saved: u64,
        /// The calls whose results they were.
        calls: Vec<String>,
    },
    /// The provider cleared by itself what was asked of it (U7): otherwise or more than for the reply before. What the
    /// reply measured is what was left.
    NativeCleared {
        /// Results cleared.
        tool_uses: u64,
        /// Turns whose thinking was cleared.
        thinking_turns: u64,
        /// Tokens of input that were saved.
        tokens: u64,
    },
    /// The conversation was compacted.
    Compacted(Box<CompactionSuccess>),
    /// A file that the model had read was put back into the window, or was not.
    FileRestore {
        /// The file.
        path: String,
        /// Why it was not.
        failed: Option<String>,
    },
    /// A compaction failed; nothing was replaced.
    CompactFailed {
        /// What kind of failure.
        kind: CompactFailure,
        /// For people.
        message: String,
    },
    /// A summary is there and waits for approval (Y6); nothing was replaced.
    Preview(Box<PreviewedSummary>),
    /// The request to summarise was too long and is tried again with less.
    TooLongRetry {
        /// Which attempt.
        attempt: u32,
        /// Rounds left out of it.
        rounds: usize,
    },
    /// The model's summary was cut off at the limit on its output, however it was asked: extracts stand for the sections
    /// that it lacks.
    SummaryCutOff,
    /// Even after the compaction the threshold is reached (F10).
    ThresholdExceededAfter {
        /// Tokens in the window.
        tokens: u64,
        /// The threshold.
        threshold: u64,
    },
    /// Notes were taken, or were not.
    NotesTaken(Box<NotesEvent>),
    /// Notes cannot stand for the conversation: it is summed up another way (S6).
    NotesNotUsed {
        /// Why.
        reason: notes::NotesSkipReason,
    },
    /// The host wants requests to begin otherwise than they did: another system prompt, other tools or settings.
    PrefixChanged {
        /// What is different.
        what: PrefixReason,
        /// From when on that holds.
        from: PrefixChangeTime,
    },
    /// A summary is prepared while the conversation goes on (X5).
    Ahead(PreparationEvent),
    /// The cache broke, or was not read as it should have been.
    CacheBreak(Box<CacheFinding>),
    /// Automatic compaction failed too often and will not ask a model again in this session.
    BreakerTripped,
    /// A hook that ran around a compaction has something to say to the user (K1).
    HookMessage {
        /// The hook's event: `PreCompact`, `SessionStart` or `PostCompact`.
        event: &'static str,
        /// Its words, or what went wrong with it.
        text: String,
    },
    /// Lines could not be written; nothing is sent until they are.
    NotPersisted {
        /// For people.
        message: String,
    },
}

/// Notes that were taken.
#[derive(Debug, Clone)]
pub struct NotesEvent {
    /// What came of it.
    pub taken: NotesRunOutcome,
    /// What it cost.
    pub cost: Option<Usd>,
    /// How long it took.
    pub milliseconds: u64,
}

/// How a summary fares that is prepared ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PreparationEvent {
    /// It is being written.
    Begun,
    /// It is there and waits for its time.
    Ready,
    /// It is no longer of use: the conversation was changed before it, or has outgrown it.
    Dropped,
}

/// A step of a compaction that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionPhase {
    /// Hooks run before it.
    PreCompactHooks,
    /// A model writes the summary.
    Compacting,
    /// Files and the rest are gathered, hooks run behind it.
    SessionStartHooks,
}

/// Who summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Summarizer {
    /// The conversation's own model, behind its own cache.
    Fork,
    /// A plain request.
    Plain,
    /// No model.
    Local,
    /// The user approved a summary.
    Approved,
    /// The provider, by its own compaction (N3).
    Provider,
    /// The session's notes, without asking a model (S6).
    Notes,
    /// The conversation's own model, span by span (O6).
    Fold,
}

/// From when on requests begin otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixChangeTime {
    /// From the next request on. The provider's cache does not hold it.
    NextRequest,
    /// From the next compaction on, when the cache breaks anyway.
    NextCompaction,
}

/// A compaction that succeeded.
#[derive(Debug, Clone)]
pub struct CompactionSuccess {
    /// Who set it off.
    pub trigger: CompactionTrigger,
    /// Who summed up.
    pub by: Summarizer,
    /// What the window held before it, as the boundary's `preTokens` says: measured where it could be.
    pub pre_tokens: u64,
    /// Tokens before and after, by estimate of the view.
    pub before: u64,
    /// See `before`.
    pub after: u64,
    /// What the summary's requests measured, all of them together.
    pub usage: Option<Usage>,
    /// What they cost.
    pub cost: Option<Usd>,
    /// How long it took, from the first request for the summary on.
    pub milliseconds: u64,
    /// How long the conversation waited for it.
    pub waited: u64,
    /// How it relates to the one before.
    pub recompaction: Recompaction,
    /// What was lost.
    pub report: LossReport,
    /// The boundary's uuid.
    pub boundary: String,
    /// What the host resets on its side (C1).
    pub reset: HostReset,
}

/// A summary for the user to look at.
#[derive(Debug, Clone)]
pub struct PreviewedSummary {
    /// The summary, without what the engine adds.
    pub summary: String,
    /// The whole message as it would stand in the conversation.
    pub message: String,
    /// Tokens before and after.
    pub before: u64,
    /// See `before`.
    pub after: u64,
    /// What would be lost.
    pub report: LossReport,
    /// Who summed up.
    pub by: Summarizer,
    /// What the summary's requests cost.
    pub cost: Option<Usd>,
}

/// Why a compaction failed (E1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactFailure {
    /// There is nothing in the conversation.
    Empty,
    /// Nothing came since the last one.
    NothingNew,
    /// The pivot is not in the conversation, or there is nothing on that side of it.
    NoPivot,
    /// A hook said no.
    Blocked,
    /// The user stopped it.
    Cancelled,
    /// Compaction is switched off.
    SwitchedOff,
    /// The reply held no summary.
    NoSummary,
    /// The model refused.
    Refused,
    /// The provider failed.
    ApiError,
    /// Even the shortest request was too long.
    PromptTooLong,
    /// It would not have made the conversation smaller.
    WouldNotShrink,
    /// It could not be written.
    NotPersisted,
    /// Something else is still under way.
    UnderWay,
}

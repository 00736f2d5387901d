//! The events that the engine reports (E1). Events are data: a screen shows them, a log keeps them, metrics count them.

use serde::Serialize;

use super::after_compaction::HostReset;
use super::input::NotesRunOutcome;
use crate::boundary::CompactionTrigger;
use crate::cache::CacheFinding;
use crate::economy::EconomyRecord;
use crate::message::Usage;
use crate::micro::MicroClearingReason;
use crate::money::Usd;
use crate::notes;
use crate::plan::Recompaction;
use crate::prompt::PrefixReason;
use crate::report::LossReport;
use crate::window::QuerySource;

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The current phase of a compaction. `None` if it is over (F8).
    Phase(Option<CompactionPhase>),
    /// A compaction is still running; this is repeated every 30 seconds.
    StillCompacting {
        /// The number of seconds so far.
        seconds: u64,
    },
    /// The model answered, and the reply is on disk.
    Replied {
        /// The uuid of the reply's entry.
        uuid: String,
        /// The usage of the reply.
        usage: Usage,
        /// The cost of the reply, where prices are known.
        cost: Option<Usd>,
    },
    /// A reply ran out of room and was withheld: the conversation is smaller now, and the turn is tried again (O3).
    Withheld {
        /// The usage of the reply, which is billed.
        usage: Usage,
        /// The cost of the reply, where prices are known.
        cost: Option<Usd>,
    },
    /// A reply was billed and is not used: it broke off or was stopped, or a compaction that came to nothing had asked
    /// for it.
    ReplyLost {
        /// What the request was for.
        source: QuerySource,
        /// The usage of the reply. The output is at least this.
        usage: Usage,
        /// The cost of that, where prices are known.
        cost: Option<Usd>,
    },
    /// The turn failed; the conversation is as it was.
    TurnFailed {
        /// The message for people.
        message: String,
    },
    /// Input is refused (O5).
    Refused {
        /// The message for people, with what to do.
        message: String,
    },
    /// Results were cleared.
    MicroCompacted {
        /// Why the results were cleared.
        reason: MicroClearingReason,
        /// The number of cleared results.
        results: usize,
        /// Tokens saved.
        saved: u64,
        /// The calls whose results were cleared.
        calls: Vec<String>,
    },
    /// The provider cleared results by itself, as requested (U7), and not the same ones as for the previous reply. The
    /// reply's usage measures what was left.
    NativeCleared {
        /// The number of cleared results.
        tool_uses: u64,
        /// Turns whose thinking was cleared.
        thinking_turns: u64,
        /// Input tokens that were saved.
        tokens: u64,
    },
    /// The conversation was compacted.
    Compacted(Box<CompactionSuccess>),
    /// A file that the model had read was restored, or could not be.
    FileRestore {
        /// The file.
        path: String,
        /// Why the file could not be restored.
        failed: Option<String>,
    },
    /// A compaction failed; nothing was replaced.
    CompactFailed {
        /// The kind of failure.
        kind: CompactFailure,
        /// The message for people.
        message: String,
    },
    /// A summary is ready and waits for approval (Y6); nothing was replaced.
    Preview(Box<PreviewedSummary>),
    /// The request for a summary was too long and is tried again with less.
    TooLongRetry {
        /// The number of the attempt.
        attempt: u32,
        /// Rounds left out of the request.
        rounds: usize,
    },
    /// The model's summary was cut off at its output limit, in every way it was requested: extracts replace the missing
    /// sections.
    SummaryCutOff,
    /// The threshold is reached even after the compaction (F10).
    ThresholdExceededAfter {
        /// Tokens in the window.
        tokens: u64,
        /// The threshold.
        threshold: u64,
    },
    /// A run of the notes agent ended, with or without success.
    NotesTaken(Box<NotesEvent>),
    /// Notes cannot replace the conversation: it is summarized another way (S6).
    NotesNotUsed {
        /// Why the notes are not used.
        reason: notes::NotesSkipReason,
    },
    /// The host wants another request prefix: another system prompt, other tools or settings.
    PrefixChanged {
        /// What is different.
        what: PrefixReason,
        /// When the change takes effect.
        from: PrefixChangeTime,
    },
    /// A summary is being prepared while the conversation goes on (X5).
    Ahead(PreparationEvent),
    /// New results are sent in a smaller form than the one they came in (V8).
    ResultsReduced {
        /// The calls that the results answer.
        calls: Vec<String>,
        /// The estimated tokens that this saves each time they are sent.
        saved: u64,
    },
    /// Something was done because it pays (V6). What was done is an event of its own.
    Economized(Box<EconomyRecord>),
    /// Nothing is decided by price, because the prices of the model are not known. This is said once.
    PricesUnknown {
        /// The model.
        model: String,
    },
    /// The cache broke, or was not read as it should have been.
    CacheBreak(Box<CacheFinding>),
    /// Automatic compaction failed too often and will not ask a model again in this session.
    BreakerTripped,
    /// A hook of a compaction has a message for the user (K1).
    HookMessage {
        /// The hook's event: `PreCompact`, `SessionStart` or `PostCompact`.
        event: &'static str,
        /// The hook's message, or what went wrong with it.
        text: String,
    },
    /// Lines could not be written; nothing is sent until they are.
    NotPersisted {
        /// The message for people.
        message: String,
    },
}

/// A run of the notes agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NotesEvent {
    /// The outcome of the run.
    pub taken: NotesRunOutcome,
    /// The cost of the run.
    pub cost: Option<Usd>,
    /// How long the run took.
    pub milliseconds: u64,
}

/// The progress of a summary that is prepared ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PreparationEvent {
    /// The summary is being written.
    Begun,
    /// The summary is ready and waits until it is needed.
    Ready,
    /// The summary is no longer usable: the conversation before it was changed, or has outgrown it.
    Dropped,
}

/// A step of a compaction that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactionPhase {
    /// The hooks before the compaction run.
    PreCompactHooks,
    /// A model writes the summary.
    Compacting,
    /// Files and other context are gathered, and the hooks after the compaction run.
    SessionStartHooks,
}

/// Who wrote a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Summarizer {
    /// The conversation's own model, using its cache.
    Fork,
    /// A model, by a plain request.
    Plain,
    /// No model: extracts.
    Local,
    /// The user, who approved it.
    Approved,
    /// The provider, by its own compaction (N3).
    Provider,
    /// The session's notes, without asking a model (S6).
    Notes,
    /// The conversation's own model, span by span (O6).
    Fold,
}

/// When a changed request prefix takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixChangeTime {
    /// It takes effect with the next request. The provider's cache does not hold it.
    NextRequest,
    /// It takes effect with the next compaction, when the cache breaks anyway.
    NextCompaction,
}

/// A compaction that succeeded.
#[derive(Debug, Clone)]
pub struct CompactionSuccess {
    /// Who triggered the compaction.
    pub trigger: CompactionTrigger,
    /// Who wrote the summary.
    pub by: Summarizer,
    /// Tokens in the window before the compaction, as in the boundary's `preTokens`: measured where possible.
    pub pre_tokens: u64,
    /// Estimated tokens of the view before the compaction.
    pub before: u64,
    /// Estimated tokens of the view after the compaction.
    pub after: u64,
    /// Tokens in the window after the compaction, with the request prefix: as the window's status counts them until the
    /// next reply.
    pub window: u64,
    /// The total usage of the summary's requests.
    pub usage: Option<Usage>,
    /// The cost of the summary's requests.
    pub cost: Option<Usd>,
    /// How long the compaction took, from the first request for the summary on.
    pub milliseconds: u64,
    /// How long the conversation waited for the compaction.
    pub waited: u64,
    /// How the compaction relates to the one before.
    pub recompaction: Recompaction,
    /// The loss report.
    pub report: LossReport,
    /// The boundary's uuid.
    pub boundary: String,
    /// The state that the host resets on its side (C1).
    pub reset: HostReset,
}

/// A summary for the user to review.
#[derive(Debug, Clone)]
pub struct PreviewedSummary {
    /// The summary, without the engine's additions.
    pub summary: String,
    /// The whole message as it would appear in the conversation.
    pub message: String,
    /// Tokens before the compaction.
    pub before: u64,
    /// Tokens after the compaction.
    pub after: u64,
    /// Tokens in the window after the compaction, with the request prefix, as the window's status would count them.
    pub window: u64,
    /// The loss report.
    pub report: LossReport,
    /// Who wrote the summary.
    pub by: Summarizer,
    /// The total usage of the summary's requests.
    pub usage: Option<Usage>,
    /// The cost of the summary's requests.
    pub cost: Option<Usd>,
}

/// Why a compaction failed (E1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactFailure {
    /// The conversation is empty.
    Empty,
    /// Nothing was added since the last compaction.
    NothingNew,
    /// The pivot is not in the conversation, or there is nothing on that side of it.
    NoPivot,
    /// A hook blocked the compaction.
    Blocked,
    /// The user stopped the compaction.
    Cancelled,
    /// Compaction is switched off.
    SwitchedOff,
    /// The reply contained no summary.
    NoSummary,
    /// The model declined.
    Refused,
    /// The provider failed.
    ApiError,
    /// Even the shortest request for a summary was too long.
    PromptTooLong,
    /// The compaction would not have made the conversation smaller.
    WouldNotShrink,
    /// The compaction could not be written.
    NotPersisted,
    /// Something else is still in progress.
    UnderWay,
}

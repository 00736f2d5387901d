//! The inputs of the engine. A log of inputs is a replay: the same inputs give the same effects.

use std::time::Duration;

use serde_json::value::RawValue;

use super::effect_id::EffectId;
use super::line::NewEntry;
use crate::boundary::CompactionTrigger;
use crate::economy::EconomyPolicy;
use crate::message::Usage;
use crate::micro::native::ProviderClearing;
use crate::models::EffortLevel;
use crate::notes::{NotesProgress, NotesTemplate};
use crate::prompt::{RequestPrefix, ThinkingChoice};
use crate::rehydrate::RestoreInput;
use crate::summary::{PivotDirection, SummaryReplyText, SummaryStop};
use crate::window::QuerySource;

/// Something that happened.
#[derive(Debug)]
#[non_exhaustive]
pub enum EngineInput {
    /// The host adds to the conversation.
    Add(Vec<NewEntry>),
    /// The host wants the model's next turn.
    Turn,
    /// The user wants the conversation compacted.
    Compact(CompactRequest),
    /// The host wants another request prefix from the next request on: other tools, another system prompt.
    Head(Box<RequestPrefix>),
    /// A mode of the host has this value from the next request on (D1): fast, auto, overage. The cache-break detector
    /// names it if it changes and the cache breaks.
    Mode {
        /// The name of the mode.
        name: String,
        /// The value of the mode. `None` if the host no longer has it.
        value: Option<String>,
    },
    /// The model thinks in this way from the next request on. Nothing else of the request prefix changes (B5).
    Thinking {
        /// Whether the model should think.
        think: ThinkingChoice,
        /// The effort, if it is not the model's default.
        effort: Option<EffortLevel>,
    },
    /// These actions are decided by price from the next request on (V5).
    Economy(EconomyPolicy),
    /// An effect is done.
    Done {
        /// The effect that is done.
        id: EffectId,
        /// The outcome of the effect.
        outcome: EffectOutcome,
    },
    /// A reply was billed and is not used, because it broke off or was stopped. This comes before the outcome of its
    /// effect, or after the effect was given up.
    ReplyLost {
        /// What the request was for.
        source: QuerySource,
        /// The usage as far as it is known: the output is at least this.
        usage: Usage,
    },
    /// The user wants to stop whatever is in progress.
    Cancel,
    /// The time of [`Engine::deadline`](super::Engine::deadline) is reached.
    Wake,
}

/// A request for a compaction.
#[derive(Debug, Clone, Default)]
pub struct CompactRequest {
    /// Who requests it: the user, or a host that decides on its own. The model is told to continue only in the latter
    /// case.
    pub trigger: CompactionTrigger,
    /// The user's instructions for the summary.
    pub instructions: Option<String>,
    /// Compact only one side of this entry.
    pub pivot: Option<Pivot>,
    /// Do not ask a model.
    pub local: bool,
    /// A summary that the user has seen and approved, in place of asking for one (Y6).
    pub approved: Option<String>,
    /// Stop when the summary is ready, and show it (Y6).
    pub preview: bool,
    /// What to do if the model fails.
    pub on_failure: OnModelFailure,
    /// The most tokens that the new view should leave in the window, if that is less than the threshold.
    pub most_left: Option<u64>,
}

/// What happens to a manual compaction if the model fails. A compaction that cannot wait never fails because of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnModelFailure {
    /// The compaction fails, too, and nothing is changed.
    #[default]
    Fail,
    /// Extracts become the summary (X9, Y1).
    UseExtracts,
}

/// The position that divides a partial compaction.
#[derive(Debug, Clone)]
pub struct Pivot {
    /// The entry's uuid.
    pub uuid: String,
    /// The side that is summarized.
    pub direction: PivotDirection,
}

/// The outcome of an effect.
#[derive(Debug)]
#[non_exhaustive]
pub enum EffectOutcome {
    /// The lines are on disk, the first at this offset.
    Persisted {
        /// The offset of the first line.
        offset: u64,
    },
    /// The archive has stored the entries.
    Archived,
    /// There is no archive: only the transcript has the entries.
    NoArchive,
    /// The model answered with its next turn.
    Replied(Box<ModelReply>),
    /// The model answered a request for a summary.
    Summarized(Box<SummaryReply>),
    /// The gathered context.
    Gathered(Box<GatheredContext>),
    /// The output of the hooks.
    HooksRan(HookOutcome),
    /// The agent that takes notes is done.
    Noted(Box<NotesRunOutcome>),
    /// The notes as they are on disk.
    NotesRead(Box<NotesOnDisk>),
    /// The effect failed.
    Failed(EffectFailure),
}

/// The outcome of a run of the agent that takes notes.
#[derive(Debug, Clone, Default)]
pub struct NotesRunOutcome {
    /// The number of sections, or edits, that were accepted.
    pub changed: usize,
    /// The number of calls and sections that were refused.
    pub refused: u64,
    /// The number of requests to the model.
    pub requests: u32,
    /// The total usage of the requests.
    pub usage: Usage,
    /// Why the notes are not up to date, if they are not: then nothing was written, or not everything.
    pub failed: Option<String>,
}

/// The notes of a session as they are on disk.
#[derive(Debug, Clone, Default)]
pub struct NotesOnDisk {
    /// The text of the notes. `None` if there is no file.
    pub text: Option<String>,
    /// The template that they started from.
    pub template: Option<NotesTemplate>,
    /// The progress of the notes, if known.
    pub reach: Option<NotesProgress>,
}

/// A reply of the model.
#[derive(Debug)]
pub struct ModelReply {
    /// The message as the provider wrote it.
    pub message: Box<RawValue>,
    /// The usage of the reply.
    pub usage: Usage,
    /// The provider's id of the request.
    pub request_id: Option<String>,
    /// The clearing that the provider did by itself.
    pub applied: ProviderClearing,
    /// How the reply ended.
    pub ending: ReplyEnding,
}

/// How a reply ended, as far as that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyEnding {
    /// The reply ended as the model or the request intended.
    #[default]
    Complete,
    /// The window was full: `model_context_window_exceeded`.
    WindowExceeded,
}

/// A reply to a request for a summary.
#[derive(Debug)]
pub struct SummaryReply {
    /// The text of the reply.
    pub text: String,
    /// The number of tool calls in the reply.
    pub calls: usize,
    /// How the reply ended.
    pub stop: SummaryStop,
    /// The usage of the reply.
    pub usage: Option<Usage>,
    /// The message as the provider wrote it: where the provider summarizes by itself, this is the summary (N3).
    pub message: Option<Box<RawValue>>,
}

impl SummaryReply {
    pub(super) fn reply(&self) -> SummaryReplyText<'_> {
        SummaryReplyText {
            text: &self.text,
            calls: self.calls,
            stop: self.stop,
        }
    }
}

/// The context that the host gathered for the time after a compaction.
#[derive(Debug, Default)]
pub struct GatheredContext {
    /// The context to restore.
    pub gathered: RestoreInput,
    /// The request prefix for the requests from now on. `None` if it stays the same.
    pub prefix: Option<RequestPrefix>,
}

/// The output of hooks (K1).
#[derive(Debug, Clone, Default)]
pub struct HookOutcome {
    /// The reason why a hook blocks.
    pub blocked: Option<String>,
    /// Instructions for the summary.
    pub instructions: Vec<String>,
    /// Text for the model.
    pub context: Vec<String>,
    /// Before a compaction: the project's current compaction instructions from its memory file (F4). `None` if they are
    /// the same as when the engine was opened.
    pub compact_instructions: Option<String>,
}

/// Why an effect failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectFailure {
    /// The kind of failure.
    pub kind: EffectFailureKind,
    /// The message for people.
    pub message: String,
    /// When the provider wants to be asked again, if it said so.
    pub retry_after: Option<Duration>,
}

impl EffectFailure {
    /// A failure that no other kind fits.
    pub fn other(message: impl Into<String>) -> Self {
        Self::of(EffectFailureKind::Other, message)
    }

    /// The failure that the user stopped the effect.
    pub fn cancelled(message: impl Into<String>) -> Self {
        Self::of(EffectFailureKind::Cancelled, message)
    }

    /// A failure of this kind, without a time for the next attempt.
    pub fn of(kind: EffectFailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
        }
    }

    /// The failure for an outcome that does not fit its effect.
    pub(super) fn of_another_kind() -> Self {
        Self::other("an outcome came that does not fit what was asked for")
    }
}

/// Kinds of failure that are handled differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EffectFailureKind {
    /// The request is too long.
    TooLong {
        /// The number of tokens above the limit, if known.
        gap: Option<u64>,
    },
    /// The stream broke off or the provider failed once: another attempt may help.
    Transient,
    /// The provider is overloaded and was asked as often as makes sense: another request would fail, too.
    Overloaded,
    /// The user stopped the effect.
    Cancelled,
    /// The credentials are missing or wrong, or lack permission.
    Auth,
    /// The account must be paid or topped up.
    Billing,
    /// The account's rate limit is used up.
    RateLimited,
    /// The provider cannot be reached, or does not answer.
    Network,
    /// The provider does not know the model, or has no such address.
    NotFound,
    /// The provider refuses the request as it is.
    Invalid,
    /// The provider refuses thinking of the request; it may accept the rest.
    InvalidThinking,
    /// Anything else.
    Other,
}

//! What the engine is told. A log of inputs is a replay: the same inputs give the same effects.

use std::time::Duration;

use serde_json::value::RawValue;

use super::effect::EffectId;
use super::line::NewEntry;
use crate::boundary::CompactionTrigger;
use crate::message::Usage;
use crate::micro::native::ProviderClearing;
use crate::notes::{NotesProgress, NotesTemplate};
use crate::prompt::RequestPrefix;
use crate::rehydrate::RestoreInput;
use crate::summary::{PivotDirection, SummaryReplyText, SummaryStop};

/// Something happened.
#[derive(Debug)]
pub enum EngineInput {
    /// The host adds to the conversation.
    Add(Vec<NewEntry>),
    /// The host wants the model's next turn.
    Turn,
    /// The user wants the conversation compacted.
    Compact(CompactRequest),
    /// The host wants another head from the next request on: other tools, another system prompt.
    Head(Box<RequestPrefix>),
    /// A mode of the host is this from the next request on (D1): fast, auto, overage. The cache watch names it if it flips
    /// and the cache breaks.
    Mode {
        /// Its name.
        name: String,
        /// Its value; none: the host no longer has such a mode.
        value: Option<String>,
    },
    /// An effect is done.
    Done {
        /// Which.
        id: EffectId,
        /// How it went.
        outcome: EffectOutcome,
    },
    /// The user wants whatever is going on to stop.
    Cancel,
    /// The time that [`Engine::deadline`](super::Engine::deadline) gave is reached.
    Wake,
}

/// A compaction that is asked for.
#[derive(Debug, Clone, Default)]
pub struct CompactRequest {
    /// Who wants it: the user, or a host that decides by itself when. The model is told to go on only then.
    pub trigger: CompactionTrigger,
    /// What the user wants the summary to heed.
    pub instructions: Option<String>,
    /// Compact only one side of this entry.
    pub pivot: Option<Pivot>,
    /// Do not ask a model.
    pub local: bool,
    /// A summary that the user has seen and approved, in place of asking for one (Y6).
    pub approved: Option<String>,
    /// Stop when the summary is there and show it (Y6).
    pub preview: bool,
    /// What is done if the model fails.
    pub on_failure: OnModelFailure,
}

/// What becomes of a compaction by hand if the model fails. One that cannot wait never fails for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnModelFailure {
    /// It fails, too, and nothing is changed.
    #[default]
    Fail,
    /// Extracts become the summary (X9, Y1).
    UseExtracts,
}

/// Where a partial compaction divides.
#[derive(Debug, Clone)]
pub struct Pivot {
    /// The entry's uuid.
    pub uuid: String,
    /// The side that is summed up.
    pub direction: PivotDirection,
}

/// How an effect went.
#[derive(Debug)]
pub enum EffectOutcome {
    /// The lines are on disk, the first at this offset.
    Persisted {
        /// Where it begins.
        offset: u64,
    },
    /// The archive has it.
    Archived,
    /// There is no archive: the transcript alone has it.
    NoArchive,
    /// The model answered with its next turn.
    Replied(Box<ModelReply>),
    /// The model answered a request to summarise.
    Summarized(Box<SummaryReply>),
    /// What was gathered.
    Gathered(Box<GatheredContext>),
    /// What the hooks said.
    HooksRan(HookOutcome),
    /// The agent that takes notes is done.
    Noted(Box<NotesRunOutcome>),
    /// The notes as they are on disk.
    NotesRead(Box<NotesOnDisk>),
    /// It failed.
    Failed(EffectFailure),
}

/// What a run of the agent that takes notes came to.
#[derive(Debug, Clone, Default)]
pub struct NotesRunOutcome {
    /// Sections, or edits, that were taken.
    pub changed: usize,
    /// Calls that were refused, and sections that were.
    pub refused: u64,
    /// How often the model was asked.
    pub requests: u32,
    /// What the requests measured, together.
    pub usage: Usage,
    /// Why the notes are not up to date, if they are not: nothing was written then, or not all.
    pub failed: Option<String>,
}

/// The notes of a session as they are on disk.
#[derive(Debug, Clone, Default)]
pub struct NotesOnDisk {
    /// The text; none if there is no file.
    pub text: Option<String>,
    /// What they began as.
    pub template: Option<NotesTemplate>,
    /// How far they reach, where that is known.
    pub reach: Option<NotesProgress>,
}

/// A reply of the model.
#[derive(Debug)]
pub struct ModelReply {
    /// The message as the provider wrote it.
    pub message: Box<RawValue>,
    /// What it measured.
    pub usage: Usage,
    /// The provider's id of the request.
    pub request_id: Option<String>,
    /// What the provider cleared by itself.
    pub applied: ProviderClearing,
    /// How it ended.
    pub ending: ReplyEnding,
}

/// How a reply ended, as far as something follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyEnding {
    /// As the model or the request wanted it.
    #[default]
    Complete,
    /// The window was full: `model_context_window_exceeded`.
    WindowExceeded,
}

/// A reply to a request to summarise.
#[derive(Debug)]
pub struct SummaryReply {
    /// What it says.
    pub text: String,
    /// How many tools it called.
    pub calls: usize,
    /// How it ended.
    pub stop: SummaryStop,
    /// What it measured.
    pub usage: Option<Usage>,
    /// The message as the provider wrote it: where it sums up by itself, that is the summary (N3).
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

/// What the host gathered for the time after a compaction.
#[derive(Debug, Default)]
pub struct GatheredContext {
    /// What goes back into the window.
    pub gathered: RestoreInput,
    /// The head that requests shall have from now on; none: as before.
    pub head: Option<RequestPrefix>,
}

/// What hooks said (K1).
#[derive(Debug, Clone, Default)]
pub struct HookOutcome {
    /// A hook blocks, for this reason.
    pub blocked: Option<String>,
    /// Instructions for the summary.
    pub instructions: Vec<String>,
    /// Text for the model.
    pub context: Vec<String>,
    /// Before a compaction: what the project's memory file says about compactions now (F4). None: as the engine was told
    /// when it was opened.
    pub compact_instructions: Option<String>,
}

/// Why an effect failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectFailure {
    /// What kind of failure.
    pub kind: EffectFailureKind,
    /// For people.
    pub message: String,
    /// When the provider wants to be asked again, where it said so.
    pub retry_after: Option<Duration>,
}

impl EffectFailure {
    /// An outcome came that does not fit its effect.
    pub(super) fn of_another_kind() -> Self {
        Self::other("an outcome came that does not fit what was asked for")
    }
}

/// Kinds of failure that are answered differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectFailureKind {
    /// The request is too long, by so many tokens where that is known.
    TooLong {
        /// By how much.
        gap: Option<u64>,
    },
    /// The stream broke off or the provider failed once: another attempt may help.
    Transient,
    /// The provider is overloaded, and was asked as often as makes sense: another request would fail likewise.
    Overloaded,
    /// The user stopped it.
    Cancelled,
    /// The credentials are missing or wrong, or do not allow it.
    Auth,
    /// The account has to be paid or topped up.
    Billing,
    /// The account's rate limit is used up.
    RateLimited,
    /// The provider cannot be reached, or does not answer.
    Network,
    /// The provider does not know the model, or has no such address.
    NotFound,
    /// The provider refuses the request as it is.
    Invalid,
    /// Anything else.
    Other,
}

//! A compaction from its first hook to its last: why it runs, who waits for it, how far it is, and what it has so far.
//! `compact.rs` is its course.

use jiff::{SignedDuration, Timestamp};

use super::effect::Urgency;
use super::effect_id::EffectId;
use super::event::Summarizer;
use super::fold_in_progress::FoldInProgress;
use super::input::{CompactRequest, GatheredContext};
use super::signed_summary::SignedSummary;
use super::summary_request_state::SummaryRequestState;
use super::view_draft::ViewDraft;
use crate::boundary::CompactionTrigger;
use crate::economy::EconomyRecord;
use crate::message::Usage;
use crate::plan::SummaryWay;
use crate::summary::{CompactionScope, PivotDirection, Summary};

/// How often the status is repeated while a compaction runs (F8).
pub(super) const KEEP_ALIVE: SignedDuration = SignedDuration::from_secs(30);

/// What follows a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterCompaction {
    /// Nothing follows: the compaction was requested by hand.
    Rest,
    /// The turn that the compaction interrupted continues.
    GoOn,
}

/// Who triggered the compaction. A threshold and a request that was too long are both `auto` on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompactionCause {
    Manual,
    Threshold,
    TooLong,
    /// The summary pays (V3).
    Price,
}

/// Who waits for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompactionTiming {
    /// A turn or the user waits.
    Awaited,
    /// Nobody waits: the conversation goes on in the meantime (X5).
    Ahead,
}

impl CompactionTiming {
    pub(super) fn urgency(self) -> Urgency {
        match self {
            Self::Awaited => Urgency::Awaited,
            Self::Ahead => Urgency::Background,
        }
    }
}

/// The outcome that a compaction waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompactionStage {
    PreHooks,
    /// Notes are being taken; the compaction waits for them until this time.
    AwaitingNotes(Timestamp),
    ReadingNotes,
    Summary,
    /// The summary was made ahead and waits until it is needed.
    Ready,
    Gathering,
    StartHooks,
    Archiving,
    PostHooks,
}

/// A compaction in progress.
#[derive(Debug)]
pub(super) struct CompactionInProgress {
    pub(super) place: CompactionTiming,
    pub(super) cause: CompactionCause,
    pub(super) way: SummaryWay,
    pub(super) scope: CompactionScope,
    pub(super) direction: Option<PivotDirection>,
    pub(super) request: CompactRequest,
    pub(super) hook_instructions: Vec<String>,
    /// The project's compaction instructions from its memory file, read when this compaction began.
    pub(super) project_instructions: Option<String>,
    pub(super) stage: CompactionStage,
    pub(super) awaits: Option<EffectId>,
    pub(super) started: Timestamp,
    /// Whether the compaction was begun ahead.
    pub(super) prepared: bool,
    /// Since when the conversation waits for the compaction.
    pub(super) awaited_since: Timestamp,
    pub(super) keep_alive: Timestamp,
    /// Tokens in the window before the compaction, and the estimate of the view.
    pub(super) used: u64,
    pub(super) before: u64,
    /// The spans, if this compaction folds.
    pub(super) folding: Option<Box<FoldInProgress>>,
    pub(super) asking: SummaryRequestState,
    pub(super) summary: Option<(Summary, Summarizer)>,
    /// The provider's own summary, if that is used.
    pub(super) signed: Option<SignedSummary>,
    pub(super) usage: Option<Usage>,
    pub(super) gathered: GatheredContext,
    pub(super) hook_context: Vec<String>,
    pub(super) draft: Option<Box<ViewDraft>>,
    /// The decision, if this compaction was decided by price.
    pub(super) economy: Option<EconomyRecord>,
}

impl CompactionInProgress {
    /// Makes the conversation wait for the compaction from now on.
    pub(super) fn take_place(&mut self, now: Timestamp) {
        self.place = CompactionTiming::Awaited;
        self.prepared = true;
        self.awaited_since = now;
        self.keep_alive = now + KEEP_ALIVE;
    }

    /// The trigger as it is recorded on disk.
    pub(super) fn trigger(&self) -> CompactionTrigger {
        match self.cause {
            CompactionCause::Manual => self.request.trigger,
            CompactionCause::Threshold | CompactionCause::TooLong | CompactionCause::Price => {
                CompactionTrigger::Auto
            }
        }
    }

    /// How many milliseconds the compaction has taken.
    pub(super) fn took(&self, now: Timestamp) -> u64 {
        milliseconds(self.started, now)
    }

    /// For how many milliseconds the conversation has waited for it.
    pub(super) fn was_awaited(&self, now: Timestamp) -> u64 {
        milliseconds(self.awaited_since, now)
    }

    /// The hooks' instructions for the summary.
    pub(super) fn hook_texts(&self) -> Vec<&str> {
        self.hook_instructions.iter().map(String::as_str).collect()
    }
}

/// The milliseconds from one time to another.
fn milliseconds(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or(0)
}

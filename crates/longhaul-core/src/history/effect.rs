//! What an attempt to make a history smaller asks of its host, and what the host reports. The host decides nothing: it
//! reports the sizes of a draft, or why there is none. `attempt.rs` decides what follows.

use super::state::HistoryChange;

/// Why results are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClearingReason {
    /// The conversation has been idle so long that the provider's cache is cold (U3).
    Idle,
    /// The window fills up (U5).
    Pressure,
}

/// The source of a summary's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummarySource {
    /// What a model has written already: the answer to the request after the client's own bytes, or to a plain one.
    Answer,
    /// A plain request to a model; the reason says why the answer to the other request is not used.
    PlainRequest(&'static str),
    /// Extracts, without a model.
    Extracts,
}

/// Why there is no draft with a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSummaryReason {
    /// The model wrote no summary.
    NotWritten,
    /// The summary would not make the conversation smaller, however much is left out.
    WouldNotShrink,
    /// The conversation cannot be summarized, whoever writes.
    Impossible,
}

/// Why a draft is of no use, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscardReason {
    /// The draft would leave the window full.
    TooLarge {
        /// Tokens after the change.
        after: u64,
        /// The threshold of automatic compaction.
        threshold: u64,
    },
    /// The conversation would not become smaller.
    WouldNotShrink,
    /// The draft would free too few tokens to be worth its price.
    FreesTooLittle,
    /// There is no draft.
    NoDraft,
}

/// The sizes of a conversation before and after a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftSizes {
    /// Tokens before the change.
    pub before: u64,
    /// Estimated tokens after the change.
    pub after: u64,
    /// Whether any of the user's messages or rules is missing after it, for lack of room.
    pub misses_words: bool,
}

/// How a summary can be requested after the client's own bytes, where everything before the question is in the
/// provider's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendedRequestWay {
    /// The client's request is used unchanged.
    AsItIs,
    /// The limit for the answer is raised.
    Raised,
    /// It is impossible, for this reason.
    No(&'static str),
}

/// The result of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptInput {
    /// Results were cleared in a draft. None means that nothing is worth clearing.
    Cleared(Option<DraftSizes>),
    /// The fewest tokens that a summary is likely to leave.
    SummaryLeaves(u64),
    /// The session's notes replace the history in a draft. None means that they cannot.
    Noted(Option<DraftSizes>),
    /// The model answered the request after the client's own bytes.
    Answered,
    /// The model did not answer. A transient failure may be someone else's fault.
    NotAnswered {
        /// Whether the same request may succeed later.
        passes: FailureTransience,
    },
    /// The history was drafted with the summary that was wanted.
    Summarized(DraftSizes),
    /// There is no such draft.
    NotSummarized(NoSummaryReason),
    /// The request that waits has waited long enough for a model. It is the result of an effect that asks a model and is
    /// abandoned; before the first effect, it says that no time is left at all. No model is asked from then on.
    TimedOut,
}

/// Whether a failure is transient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureTransience {
    /// The same request may succeed later.
    Passes,
    /// The same request will fail again.
    Stays,
}

/// Which draft is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptDraft {
    /// The draft with results cleared.
    Cleared,
    /// The draft with the session's notes.
    Notes,
    /// The draft with the summary.
    Summary,
}

/// An effect for the caller to perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEffect {
    /// Draft the history with old results cleared.
    Clear(ClearingReason),
    /// Estimate how many tokens a summary is likely to leave at the least.
    EstimateSummary,
    /// Draft the history with the session's notes in its place.
    UseNotes,
    /// Request a summary after the client's own bytes.
    AskBehind(AppendedRequestWay),
    /// Draft the history with a summary.
    Summarize {
        /// The source of its text.
        source: SummarySource,
        /// The most tokens that the draft should leave in the window. More than the threshold means that drafts turn out to
        /// be smaller than the engine expects, by this ratio of the free part.
        most_left: u64,
    },
    /// Apply this change to the history's state.
    Change(HistoryChange),
    /// Discard the last draft of this kind, which is useless.
    Discard(KeptDraft, DiscardReason),
    /// Keep this draft: it replaces the history from now on.
    Keep(KeptDraft),
    /// Change nothing.
    GiveUp,
}

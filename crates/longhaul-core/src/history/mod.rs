//! Plans for conversations that their client sends whole with each request, as a gateway sees them.
//!
//! The engine keeps one conversation going and holds it; a gateway meets many, and each request brings its history along.
//! What is sent for the beginning of a history can be replaced, so the question is when that is worth its price and by
//! what. [`HistoryState`] is what is remembered of one history between requests: what was measured, how fast the window
//! fills, what failed. [`Attempt`] makes one history smaller: it decides, step by step, what is to be performed, and takes
//! what came of it. Both are pure: no locks, clocks or stores. The rules are the engine's: [`Growth`](crate::engine::Growth)
//! says how far ahead, [`worth`](fn@crate::plan::worth) whether it pays, [`Breaker`](crate::plan::Breaker) when a model is no longer asked.

mod attempt;
mod state;

pub use attempt::{
    AppendedRequestWay, AttemptContext, AttemptEffect, AttemptInput, AttemptOccasion,
    ClearingReason, CompactionAttempt, DraftSizes, FailureTransience, HistoryAuthor, KeptDraft,
    OverflowEvidence, OversizedRequest, PlainRequestPermission, PlainRequestSupport,
    SHORTEST_ANSWER, SummaryRequestFacts, SummaryRequestOutcome,
};
pub use state::{HistoryChange, HistoryState, MeasuredReply};

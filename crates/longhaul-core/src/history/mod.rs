//! Plans for conversations whose client sends the whole history with each request, as in a gateway.
//!
//! The engine holds one conversation and keeps it going; a gateway serves many, and each request brings its own
//! history. A gateway can replace the beginning of a history, so the question is when that is worth its price, and by
//! what. [`HistoryState`] remembers one history between requests: what was measured, how fast the window fills, what
//! failed. `plan_request` decides what happens to a request before it is sent, and [`HistoryState::after_reply`] what
//! follows its answer; [`worked_on`] says which part an attempt works on. [`CompactionAttempt`] makes one history smaller:
//! it returns the effects to perform, and takes their results. [`HistoryRent`] says what the messages of a history have
//! cost, so that it is made smaller when that pays (V9). All are pure: no locks, clocks or stores. Two rules are the
//! engine's: its `WindowGrowth` says how fast the window fills, [`worth`](fn@crate::plan::worth) whether a compaction
//! pays. How far ahead to act, and when the [`Breaker`](crate::plan::Breaker) opens and closes again, is decided
//! here: a gateway's user cannot ask for a summary by hand.

mod after_reply;
mod aim_search;
mod attempt;
mod author;
mod effect;
mod newest;
mod occasion;
mod plan_request;
mod state;

pub use crate::economy::HistoryRent;
pub use after_reply::{
    AnsweredRequest, MessagesAtHand, NotesAtHand, ReplyFollowUp, SummaryPrice, UnansweredRequest,
};
pub use attempt::{
    AttemptContext, CompactionAttempt, PlainRequestSupport, SHORTEST_ANSWER, SummaryRequestFacts,
};
pub use author::HistoryAuthor;
pub use effect::{
    AppendedRequestWay, AttemptEffect, AttemptInput, ClearingReason, DiscardReason, DraftSizes,
    FailureTransience, KeptDraft, NoSummaryReason, SummarySource,
};
pub use newest::{RequestSizes, newest_room};
pub use occasion::{AttemptOccasion, OverflowEvidence, OversizedRequest};
pub use plan_request::{
    BeginningChoice, BeginningOrigin, BeginningUse, BreakpointSetter, CachingFacts,
    ConversationCache, FormerBeginning, FoundBeginning, HistoryPart, MeasuredContinuation,
    PreparedPrefix, RequestPlace, RequestStep, RoomNeed, SentElsewhere, conversation_cache,
    room_limit, room_need, threshold_distance, worked_on,
};
pub use state::{HistoryChange, HistoryState, MeasuredReply};

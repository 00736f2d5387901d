//! Why a conversation could not be summarized.

use longhaul::session::{CompactError, OpenError};
use longhaul_core::engine::CompactFailure;
use longhaul_core::history::NoSummaryReason;

use crate::manage::entries::UnreadableConversation;

/// Why there is no draft. The conversation stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// There is nothing to summarize.
    #[error("there is nothing to summarize: {0}")]
    Nothing(String),
    /// Its last calls have no results yet, and results cannot follow a summary.
    #[error("the conversation ends with tool calls that are not answered")]
    Unanswered,
    /// Compaction is switched off.
    #[error("{0}")]
    SwitchedOff(String),
    /// The summary would not be smaller.
    #[error("a summary would not make the conversation smaller: {0}")]
    WouldNotShrink(String),
    /// The model wrote no summary.
    #[error("the model wrote no summary: {0}")]
    NotWritten(String),
    /// A part of the conversation cannot be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableConversation),
    /// The model's window is too small, or no request for it can be built.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Any other error.
    #[error("the conversation could not be summarized: {0}")]
    Failed(String),
}

impl From<CompactError> for DraftError {
    fn from(error: CompactError) -> Self {
        match error.kind {
            CompactFailure::Empty | CompactFailure::NothingNew => Self::Nothing(error.message),
            CompactFailure::SwitchedOff => Self::SwitchedOff(error.message),
            CompactFailure::WouldNotShrink => Self::WouldNotShrink(error.message),
            CompactFailure::NoSummary
            | CompactFailure::Refused
            | CompactFailure::ApiError
            | CompactFailure::PromptTooLong => Self::NotWritten(error.message),
            _ => Self::Failed(error.message),
        }
    }
}

impl DraftError {
    /// The reason in the planner's terms.
    pub fn reason(&self) -> NoSummaryReason {
        match self {
            Self::NotWritten(_) => NoSummaryReason::NotWritten,
            Self::WouldNotShrink(_) => NoSummaryReason::WouldNotShrink,
            _ => NoSummaryReason::Impossible,
        }
    }
}

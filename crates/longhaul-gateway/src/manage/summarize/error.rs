//! Why a conversation could not be summarized.

use longhaul::session::{CompactError, OpenError};
use longhaul_core::engine::CompactFailure;
use longhaul_core::figures::grouped;

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
    /// Even the smallest summary is too large: what cannot be summarized fills the window.
    #[error(
        "the smallest summary leaves {} tokens in the window, which is full at {}; the system prompt and the tools must be made smaller",
        grouped(*.after), grouped(*.threshold)
    )]
    TooLarge {
        /// The tokens that it would leave.
        after: u64,
        /// The threshold of automatic compaction.
        threshold: u64,
    },
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
            _ => Self::Failed(error.message),
        }
    }
}

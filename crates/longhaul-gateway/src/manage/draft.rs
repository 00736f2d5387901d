//! What comes of working on a conversation: what stands for it from now on.

use longhaul_core::history::{DraftSizes, ModelAnswer};
use longhaul_core::message::Usage;

use super::talk::Talk;
use crate::store::Kind;

/// A smaller form of a whole conversation, not in use yet.
#[derive(Debug, Clone)]
pub struct Draft {
    /// How it was made.
    pub kind: Kind,
    /// The conversation as it is sent from now on: behind its summary there are no elements if everything was summarized.
    pub talk: Talk,
    /// How many elements of the conversation were summarized now.
    pub summed_up: usize,
    /// Tokens before.
    pub before: u64,
    /// Tokens after, estimated.
    pub after: u64,
    /// What was lost, as JSON.
    pub report: String,
    /// What asking for it used.
    pub usage: Option<Usage>,
    /// What became of asking a model.
    pub answer: ModelAnswer,
}

impl Draft {
    /// How large it is.
    pub(super) fn sizes(&self) -> DraftSizes {
        DraftSizes {
            before: self.before,
            after: self.after,
        }
    }
}

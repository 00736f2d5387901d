//! What comes of working on a conversation: what stands for it from now on.

use bytes::Bytes;
use longhaul_core::history::{DraftSizes, ModelAnswer};
use longhaul_core::message::Usage;

use crate::store::Kind;

/// A smaller form of a whole conversation, not in use yet.
#[derive(Debug, Clone)]
pub struct Draft {
    /// How it was made.
    pub kind: Kind,
    /// Transcript lines of the summary at its beginning, as in [`Talk::lines`](super::Talk::lines).
    pub lines: Bytes,
    /// The elements of that summary.
    pub summary: Vec<Bytes>,
    /// How many elements of the conversation were summed up in it now.
    pub summed_up: usize,
    /// The elements behind it; none if everything was summed up.
    pub rest: Vec<Bytes>,
    /// Calls whose results are cleared in `rest`.
    pub cleared: Vec<String>,
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

//! Recall behind the gateway: the model may look up what was cleared or summarized, and the client notices nothing.
//!
//! A conversation that begins with tools is offered one more, for as long as it lasts (`latched_tool`). Its calls are
//! answered from the client's own history (`answer`), which the client sends whole each time, and never shown: the reply
//! goes on in the same stream (`streamed_messages`, `streamed_chat`) or in the same message (`whole_reply`). What the
//! client did not see are hidden rounds (`hidden_rounds`). They are stored under the hash of the client's history
//! (`recall_records`) before the reply goes on, and put back into later requests byte for byte (`expand`,
//! `expand_messages`, `expand_chat`, with the `client_blocks` that were shown).
//!
//! So all other modules see a client that knows the tool: what they recognize, compact, send and record is the expanded
//! request. `front/` sends it, as often as the model looks something up (`recall_turn`, at most three times for
//! one reply).

mod answer;
mod client_blocks;
mod expand;
mod expand_chat;
mod expand_messages;
mod hidden_rounds;
mod history_recall;
mod latched_tool;
mod recall_records;
mod recall_turn;
mod reply_ending;
mod reply_rewriter;
mod streamed_chat;
mod streamed_messages;
mod whole_reply;

use crate::store::{CompactedPrefix, CompactedPrefixKind};

pub use crate::policy::RecallMode;
/// Marks a request whose conversation is offered the tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecallOffered;

pub(crate) use history_recall::{HistoryRecall, RecallDemand};
pub(crate) use recall_turn::{AfterReply, RecallTurn};
pub(crate) use reply_ending::{StopChange, StreamEnding};
pub(crate) use reply_rewriter::ReplyRewriter;
pub(crate) use whole_reply::WholeReplies;

/// How often the model may look something up for one reply.
pub(crate) const MOST_ROUNDS: usize = 3;

/// What is sent in place of the beginning of a conversation, as far as recall needs to know it. A response of the
/// gateway carries it to the code that answers the model's calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplacedBeginning {
    /// How many elements of the sent list a summary replaces.
    pub(crate) summarized: usize,
    /// The ids of the calls whose results are cleared.
    pub(crate) cleared: Vec<String>,
}

impl ReplacedBeginning {
    /// What a compacted prefix does to the elements before this one.
    pub(crate) fn new(prefix: &CompactedPrefix, until: usize) -> Self {
        Self {
            summarized: match prefix.made.kind {
                CompactedPrefixKind::Cleared | CompactedPrefixKind::Settled => 0,
                CompactedPrefixKind::Noted
                | CompactedPrefixKind::Summarized
                | CompactedPrefixKind::Extracted => until,
            },
            cleared: prefix.cleared.clone(),
        }
    }
}

//! The events that a host receives while a reply arrives, the same for every dialect.

use bytes::Bytes;
use longhaul_core::message::Usage;

use crate::block::ReplyBlockKind;
use crate::reply::Reply;

/// One step of a reply.
///
/// Pieces are for display. What is stored and sent back is the [`Reply`] of [`StreamEvent::Finished`], which keeps
/// bytes that decoding to text may lose (half of a surrogate pair at the edge of a piece). Tools are best run from
/// there too: until then, a [`StreamEvent::Restarted`] can take everything back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// The model began to answer.
    Started {
        /// The message's id.
        id: String,
        /// The model that answers.
        model: String,
    },
    /// The stream began again: discard what came before.
    Restarted,
    /// A content block began.
    BlockStarted {
        /// The index of the block.
        index: u64,
        /// The kind of the block.
        kind: ReplyBlockKind,
        /// For a tool call: the name of the tool.
        tool: Option<String>,
    },
    /// A piece of text.
    Text {
        /// The index of the block.
        index: u64,
        /// The piece.
        text: String,
    },
    /// A piece of reasoning.
    Thinking {
        /// The index of the block.
        index: u64,
        /// The piece.
        text: String,
    },
    /// A piece of a tool's input.
    ToolInput {
        /// The index of the block.
        index: u64,
        /// The piece: JSON, cut anywhere.
        json: String,
    },
    /// A content block is complete.
    BlockEnded {
        /// The index of the block.
        index: u64,
    },
    /// Token counts, cumulative.
    Usage(Usage),
    /// The server is alive and has nothing to send.
    Ping,
    /// Anything else that the server sent, as JSON.
    Other(Bytes),
    /// The reply is complete. This is the last event.
    Finished(Box<Reply>),
}

//! One content block that is rendered but not yet placed.

use bytes::Bytes;

use super::BlockOrigin;
use crate::message::{BlockKind, Id};
use crate::tokens::{Estimate, RoughEstimator};

/// A content block as it will be sent.
#[derive(Debug)]
pub(super) struct BlockPiece {
    /// The block's JSON.
    pub(super) json: Vec<u8>,
    pub(super) kind: BlockKind,
    pub(super) part: BlockPart,
    /// Whether the block may have a cache breakpoint.
    pub(super) markable: bool,
    /// The entry that the block came from.
    pub(super) entry: Option<Id>,
    pub(super) origin: BlockOrigin,
    pub(super) weight: Estimate,
}

/// A block's relation to the blocks around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockPart {
    /// A block without relations to others.
    Plain,
    /// White space, which is not sent.
    Blank,
    /// Signed reasoning.
    Thinking,
    /// A call of a client-side tool, to be answered in the next message.
    Call(ClientToolCall),
    /// A call that the server itself answers in the same message.
    ServerCall(Id, ServerAnswerer),
    /// The server's answer to such a call.
    ServerResult(Id, ServerAnswerer),
    /// A summary that the provider signed: it must be the very first block.
    SignedSummary,
}

/// A call of a client-side tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientToolCall {
    pub(super) id: Id,
    /// The id as it is in the transcript: the content of its JSON literal.
    pub(super) literal: Bytes,
    /// The id as it is sent, which differs only if the API would refuse the original.
    pub(super) sent: Bytes,
}

/// Who answers a call on the server's side. Results from one do not answer calls of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerAnswerer {
    /// The provider's own tools.
    Tool,
    /// A connected MCP server.
    Mcp,
}

impl BlockPiece {
    /// Creates a text block that is not in the transcript.
    pub(super) fn text(text: &str, entry: Option<Id>, origin: BlockOrigin) -> Self {
        Self {
            json: text_block(text),
            kind: BlockKind::Text,
            part: BlockPart::Plain,
            markable: true,
            entry,
            origin,
            weight: RoughEstimator::text(text),
        }
    }
}

/// Writes a text block: `{"type":"text","text":…}`.
pub(super) fn text_block(text: &str) -> Vec<u8> {
    let mut json = Vec::with_capacity(text.len() + text.len() / 16 + 32);
    json.extend_from_slice(br#"{"type":"text","text":"#);
    push_string(&mut json, text);
    json.push(b'}');
    json
}

/// Writes a text as a JSON string.
pub(super) fn push_string(json: &mut Vec<u8>, text: &str) {
    // Writing a string into memory cannot fail.
    let _ = serde_json::to_writer(json, text);
}

//! One content block, rendered and not yet placed.

use bytes::Bytes;

use super::BlockOrigin;
use crate::message::{BlockKind, Id};
use crate::tokens::{Estimate, RoughEstimator};

/// A content block as it will be sent.
#[derive(Debug)]
pub(super) struct BlockPiece {
    /// Its JSON.
    pub(super) json: Vec<u8>,
    pub(super) kind: BlockKind,
    pub(super) part: BlockPart,
    /// Whether a cache marker may stand on it.
    pub(super) markable: bool,
    /// The entry it came from.
    pub(super) entry: Option<Id>,
    pub(super) origin: BlockOrigin,
    pub(super) weight: Estimate,
}

/// What a block is to the blocks around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockPart {
    /// Stands for itself.
    Plain,
    /// White space: sent only if reasoning that was made after it depends on it.
    Blank,
    /// Reasoning, signed.
    Thinking,
    /// A call of a client-side tool, to be answered in the next message.
    Call(ClientToolCall),
    /// A call that the server itself answers in the same message.
    ServerCall(Id, ServerAnswerer),
    /// Such an answer.
    ServerResult(Id, ServerAnswerer),
    /// A summary that the provider signed: it must be the very first block.
    SignedSummary,
}

/// A call of a client-side tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientToolCall {
    pub(super) id: Id,
    /// The id as the transcript has it: the content of its JSON literal.
    pub(super) literal: Bytes,
    /// The id as it is sent; the same unless the API would refuse it.
    pub(super) sent: Bytes,
}

/// Who on the server's side answers a call: results of one do not answer calls of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerAnswerer {
    /// The provider's own tools.
    Tool,
    /// A connected MCP server.
    Mcp,
}

impl BlockPiece {
    /// A text block made here.
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

/// `{"type":"text","text":…}`
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

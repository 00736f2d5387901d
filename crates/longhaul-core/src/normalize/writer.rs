//! Writes blocks into the buffer as messages, and records the position of each. Written bytes never change.

use super::piece::BlockPiece;
use super::{AppendBuffer, MessageRole, RenderedBlock, RenderedMessage};
use crate::xxh3::Xxh3_64;

#[derive(Default)]
pub(super) struct RenderingWriter {
    pub(super) buffer: AppendBuffer,
    pub(super) blocks: Vec<RenderedBlock>,
    pub(super) messages: Vec<RenderedMessage>,
    hash: Xxh3_64,
}

impl std::fmt::Debug for RenderingWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("bytes", &self.buffer.len())
            .field("messages", &self.messages.len())
            .finish_non_exhaustive()
    }
}

impl RenderingWriter {
    fn push(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.buffer.push(bytes);
    }

    /// The role of the last message.
    pub(super) fn role(&self) -> Option<MessageRole> {
        self.messages.last().map(|message| message.role)
    }

    /// Closes the previous message and begins a new one. A block must follow.
    pub(super) fn start(&mut self, role: MessageRole) {
        if !self.messages.is_empty() {
            self.push(b"]},");
        }
        self.push(match role {
            MessageRole::User => br#"{"role":"user","content":["#,
            MessageRole::Assistant => br#"{"role":"assistant","content":["#,
        });
        self.messages.push(RenderedMessage {
            role,
            first_block: self.blocks.len() as u32,
            stripped: 0,
        });
    }

    /// Records how many thinking blocks of the message that has just begun are not sent.
    pub(super) fn stripped(&mut self, count: u32) {
        if let Some(message) = self.messages.last_mut() {
            message.stripped = count;
        }
    }

    /// Adds a block to the open message.
    pub(super) fn block(&mut self, piece: &BlockPiece) {
        let message = self.messages.len().saturating_sub(1);
        let is_first = self
            .messages
            .get(message)
            .is_some_and(|message| message.first_block as usize == self.blocks.len());
        if !is_first {
            self.push(b",");
        }
        let start = self.buffer.len();
        self.push(&piece.json);
        self.blocks.push(RenderedBlock {
            start,
            end: self.buffer.len(),
            kind: piece.kind,
            markable: piece.markable,
            message: message as u32,
            entry: piece.entry,
            origin: piece.origin,
            prefix_hash: self.hash.digest(),
            weight: piece.weight,
        });
    }
}

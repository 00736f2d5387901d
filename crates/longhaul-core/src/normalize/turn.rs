//! The open tail: a response that is being collected, and the user's side of the conversation after it.
//!
//! Nothing here is written yet, except for what the last fields of [`TurnPieces`] say: a request may already have
//! carried the beginning of the turn.

use super::piece::{BlockPiece, ClientToolCall};
use super::response_blocks::{self, BlockPlacement};
use super::writer::RenderingWriter;
use super::{BlockOrigin, MessageRole, block};
use crate::message::Id;

#[derive(Debug, Default)]
pub(super) struct TurnPieces {
    /// The response's id; `None` at the very beginning, and for a line without an id.
    pub(super) message: Option<Id>,
    pub(super) said: Vec<BlockPiece>,
    pub(super) results: Vec<BlockPiece>,
    pub(super) inputs: Vec<BlockPiece>,
    /// All calls of the response, in order.
    pub(super) calls: Vec<ClientToolCall>,
    /// How many thinking blocks of the response are not sent.
    pub(super) stripped: u32,
    /// Whether some of the response is in the buffer.
    said_is_written: bool,
    /// Whether some of the user's side after the response is in the buffer.
    pub(super) heard_is_written: bool,
}

/// The opening of the conversation.
#[derive(Debug, Default)]
pub(super) enum TurnOpening {
    /// Nothing more is needed: a user message has been written.
    #[default]
    Written,
    /// This text must be written in the first user message.
    Context(BlockPiece),
    /// Nothing is needed if the user speaks first.
    Nothing,
}

impl TurnOpening {
    pub(super) fn of(user_context: Option<&str>) -> Self {
        match user_context.filter(|text| !text.trim().is_empty()) {
            Some(text) => Self::Context(BlockPiece::text(text, None, BlockOrigin::Context)),
            None => Self::Nothing,
        }
    }
}

impl TurnPieces {
    /// Creates the turn of a response.
    pub(super) fn of(message: Option<Id>) -> Self {
        Self {
            message,
            ..Self::default()
        }
    }

    /// Whether anything from the user's side is waiting to be written.
    fn hears(&self) -> bool {
        !self.results.is_empty() || !self.inputs.is_empty()
    }

    /// Whether the response is only reasoning so far, and nothing follows it.
    pub(super) fn only_thinks(&self) -> bool {
        !self.said_is_written && !self.hears() && response_blocks::only_thinks(&self.said)
    }

    /// Writes everything that is waiting. All calls must have a result by now.
    pub(super) fn write(&mut self, writer: &mut RenderingWriter, opening: &mut TurnOpening) {
        self.write_response(writer, opening);
        self.write_user_side(writer, opening);
    }

    fn write_response(&mut self, writer: &mut RenderingWriter, opening: &mut TurnOpening) {
        let place = if writer.messages.is_empty() {
            BlockPlacement::First
        } else {
            BlockPlacement::Behind
        };
        let said = response_blocks::settle(std::mem::take(&mut self.said), place);
        let Some(first) = said.first() else {
            return;
        };
        if place == BlockPlacement::First && !block::may_open(first) {
            writer.start(MessageRole::User);
            writer.block(&match std::mem::take(opening) {
                TurnOpening::Context(context) => context,
                TurnOpening::Nothing | TurnOpening::Written => block::placeholder(),
            });
        }
        if !self.said_is_written {
            writer.start(MessageRole::Assistant);
            writer.stripped(self.stripped);
            self.said_is_written = true;
        }
        for piece in &said {
            writer.block(piece);
        }
    }

    fn write_user_side(&mut self, writer: &mut RenderingWriter, opening: &mut TurnOpening) {
        if !self.hears() {
            return;
        }
        if writer.role() != Some(MessageRole::User) {
            writer.start(MessageRole::User);
        }
        self.heard_is_written = true;
        for piece in self.results.drain(..) {
            writer.block(&piece);
        }
        if let TurnOpening::Context(context) = std::mem::take(opening) {
            writer.block(&context);
        }
        for piece in self.inputs.drain(..) {
            writer.block(&piece);
        }
    }
}

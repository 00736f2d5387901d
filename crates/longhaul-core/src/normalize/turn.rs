//! The open tail: a response that is being collected and what the user's side said behind it.
//!
//! Nothing here is written yet, but for what the notes at the bottom of [`Turn`] say: a request may have carried the
//! beginning of the turn already.

use super::piece::{Call, Piece};
use super::said::{self, Place};
use super::writer::Writer;
use super::{Origin, Role, block};
use crate::message::Id;

#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The response's id; none at the very beginning, and for a line without one.
    pub(super) message: Option<Id>,
    pub(super) said: Vec<Piece>,
    pub(super) results: Vec<Piece>,
    pub(super) inputs: Vec<Piece>,
    /// All calls of the response, in order.
    pub(super) calls: Vec<Call>,
    /// How many thinking blocks of the response are not sent.
    pub(super) stripped: u32,
    /// Some of the response is in the buffer.
    said_is_written: bool,
    /// Some of what the user's side said behind it is in the buffer.
    pub(super) heard_is_written: bool,
}

/// What goes before everything else.
#[derive(Debug, Default)]
pub(super) enum Opening {
    /// Nothing, and a user message has been written.
    #[default]
    Written,
    /// This text, in the first user message.
    Context(Piece),
    /// Nothing, if the user speaks first.
    Nothing,
}

impl Opening {
    pub(super) fn of(user_context: Option<&str>) -> Self {
        match user_context.filter(|text| !text.trim().is_empty()) {
            Some(text) => Self::Context(Piece::text(text, None, Origin::Context)),
            None => Self::Nothing,
        }
    }
}

impl Turn {
    /// The turn of a response.
    pub(super) fn of(message: Option<Id>) -> Self {
        Self {
            message,
            ..Self::default()
        }
    }

    /// Whether anything from the user's side waits to be written.
    fn hears(&self) -> bool {
        !self.results.is_empty() || !self.inputs.is_empty()
    }

    /// Whether the response is nothing but reasoning so far, and nothing follows it.
    pub(super) fn only_thinks(&self) -> bool {
        !self.said_is_written && !self.hears() && said::only_thinks(&self.said)
    }

    /// Writes all that waits. Calls without a result must have been given one.
    pub(super) fn write(&mut self, writer: &mut Writer, opening: &mut Opening) {
        self.write_said(writer, opening);
        self.write_heard(writer, opening);
    }

    fn write_said(&mut self, writer: &mut Writer, opening: &mut Opening) {
        let place = match writer.messages.is_empty() {
            true => Place::First,
            false => Place::Behind,
        };
        let said = said::settle(std::mem::take(&mut self.said), place);
        let Some(first) = said.first() else {
            return;
        };
        if place == Place::First && !block::may_open(first) {
            writer.start(Role::User);
            writer.block(&match std::mem::take(opening) {
                Opening::Context(context) => context,
                Opening::Nothing | Opening::Written => block::placeholder(),
            });
        }
        if !self.said_is_written {
            writer.start(Role::Assistant);
            writer.stripped(self.stripped);
            self.said_is_written = true;
        }
        for piece in &said {
            writer.block(piece);
        }
    }

    fn write_heard(&mut self, writer: &mut Writer, opening: &mut Opening) {
        if !self.hears() {
            return;
        }
        if writer.role() != Some(Role::User) {
            writer.start(Role::User);
        }
        self.heard_is_written = true;
        for piece in self.results.drain(..) {
            writer.block(&piece);
        }
        if let Opening::Context(context) = std::mem::take(opening) {
            writer.block(&context);
        }
        for piece in self.inputs.drain(..) {
            writer.block(&piece);
        }
    }
}

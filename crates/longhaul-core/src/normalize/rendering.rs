//! The conversation as the API will see it, rendered once (Z, B1).
//!
//! A rendering is a fold over entries: each is rendered when it arrives, into a buffer that only grows. Entries since
//! the last request (the open tail) may still be arranged; entries that a request carried are frozen. Anything that
//! would change sent messages (a compaction, a clearing, a rewind, stripped thinking) begins a new rendering.
//!
//! The output depends on the options, the history and the pushed entries, and not on when it was sealed, as long as it
//! is sealed between responses: with no open call, and with no further line of the newest response to come.

use bytes::Bytes;

use super::arrange::arranged;
use super::block::{self, ThinkingDelivery};
use super::images::ImageCounter;
use super::options::RenderRules;
use super::piece::{BlockPart, BlockPiece, ClientToolCall};
use super::step::{RenderStep, RenderStepKind, steps};
use super::turn::{TurnOpening, TurnPieces};
use super::writer::RenderingWriter;
use super::{AppendBuffer, MessageRole, RenderOptions, RenderedBlock, RenderedMessage, attachment};
use crate::hash::{Map, Set};
use crate::message::{EntryView, Id, SentForm};

/// A rendered conversation.
#[derive(Debug)]
pub struct Rendering {
    rules: RenderRules,
    writer: RenderingWriter,
    opening: TurnOpening,
    turn: TurnPieces,
    images: ImageCounter,
    /// A response that so far consists only of reasoning that is not sent, and the number of its blocks.
    stripped: Option<(Id, u32)>,
    /// Responses of which at least one line was seen.
    responses: Set<Id>,
    /// Calls of client-side tools, and whether they have a result.
    calls: Map<Id, AnswerState>,
    /// Calls of any kind. An id may be used only once.
    call_ids: Set<Id>,
}

/// Whether a call has a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerState {
    Awaited,
    Given,
}

/// How to treat a response that is only reasoning and that another response follows directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BareReasoning {
    /// The response was part of the history and is kept.
    Kept,
    /// The response was the tail when the next response was requested, so it was not sent then and is dropped.
    Dropped,
}

impl Rendering {
    /// Renders a whole history. No request of ours has carried it yet, so late lines are joined to their response, and
    /// late results are put after their call, wherever they are.
    pub fn begin<'a>(
        options: RenderOptions,
        history: impl IntoIterator<Item = EntryView<'a>>,
    ) -> Self {
        let history: Vec<EntryView<'a>> = history.into_iter().collect();
        let steps = arranged(&history);
        let mut rules = RenderRules::of(&options);
        rules.reductions.clear(&options.cleared);
        for view in &history {
            rules.reductions.entry(*view);
        }
        let (images, crossed) = ImageCounter::over(options.most_images, &rules, &steps);
        let stripped = options.thinking_stripped_through;
        let stripped = stripped
            .and_then(|last| history.iter().rposition(|view| view.uuid() == Some(last)))
            .max(crossed);
        let mut rendering = Self {
            rules,
            writer: RenderingWriter::default(),
            opening: TurnOpening::of(options.user_context.as_deref()),
            turn: TurnPieces::default(),
            images,
            stripped: None,
            responses: Set::default(),
            calls: Map::default(),
            call_ids: Set::default(),
        };
        for step in steps {
            let thinking = match stripped {
                Some(last) if step.at <= last => ThinkingDelivery::Stripped,
                _ => ThinkingDelivery::Sent,
            };
            rendering.take(step, thinking, BareReasoning::Kept);
        }
        rendering.images.history_is_over();
        rendering
    }

    /// Adds an entry to the open tail.
    pub fn push(&mut self, entry: EntryView<'_>) {
        self.rules.reductions.entry(entry);
        for step in steps(0, entry) {
            self.take(step, ThinkingDelivery::Sent, BareReasoning::Dropped);
        }
    }

    /// Renders the open tail and freezes it. This is called when a request is about to be sent, and whenever the
    /// rendering is to be displayed. Calls at the very end without a result get a synthetic error; a host that sends
    /// writes those as entries first (see [`Rendering::open_calls`]). A response at the very end that is only reasoning
    /// is held back: the next entry decides whether it is sent.
    pub fn seal(&mut self) {
        if !self.turn.only_thinks() {
            self.write();
        }
    }

    /// Returns the calls of the open tail that have no result yet, as the ids' JSON string content.
    pub fn open_calls(&self) -> Vec<Bytes> {
        self.awaited().map(|call| call.literal.clone()).collect()
    }

    /// The bytes: the messages one after the other, separated by commas, without the brackets around them. The last
    /// message is not closed; [`Rendering::closing`] closes it.
    pub fn buffer(&self) -> &AppendBuffer {
        &self.writer.buffer
    }

    /// Returns the bytes that close the last message: `]}`, or nothing if there is no message.
    pub fn closing(&self) -> &'static [u8] {
        if self.writer.messages.is_empty() {
            b""
        } else {
            b"]}"
        }
    }

    /// All sealed blocks.
    pub fn blocks(&self) -> &[RenderedBlock] {
        &self.writer.blocks
    }

    /// All sealed messages.
    pub fn messages(&self) -> &[RenderedMessage] {
        &self.writer.messages
    }

    /// How the result of a call is sent (V8); `None` if it is not in view.
    pub(crate) fn sent_form(&self, call: Id) -> Option<SentForm> {
        self.rules.reductions.form(call)
    }

    /// Whether the sealed messages end with a user message. A request must: the API does not accept the beginning of a
    /// reply.
    pub fn ends_with_user(&self) -> bool {
        self.writer.role() == Some(MessageRole::User)
    }

    /// Whether older images must be left out, which changes sent messages: a new rendering must begin over all entries,
    /// including the new ones. Until then each new image is left out. The new rendering leaves out thinking from before
    /// the change by itself (N2).
    pub fn must_begin_anew(&self) -> bool {
        self.images.must_begin_anew()
    }

    fn awaited(&self) -> impl Iterator<Item = &ClientToolCall> {
        let awaited =
            |call: &&ClientToolCall| self.calls.get(&call.id) == Some(&AnswerState::Awaited);
        self.turn.calls.iter().filter(awaited)
    }

    fn take(&mut self, step: RenderStep<'_>, thinking: ThinkingDelivery, bare: BareReasoning) {
        match step.ask {
            RenderStepKind::Line => self.line(step.view, thinking, bare),
            RenderStepKind::Result(index) => self.result(step.view, index),
            RenderStepKind::Input(index) => {
                let piece = block::input(step.view, index, &self.rules, &mut self.images);
                self.turn.inputs.push(piece);
            }
            RenderStepKind::Attachment if self.rules.clears(step.view) => {}
            RenderStepKind::Attachment => {
                let pieces = attachment::render(step.view, &mut self.images);
                self.turn.inputs.extend(pieces);
            }
        }
    }

    fn line(&mut self, view: EntryView<'_>, thinking: ThinkingDelivery, bare: BareReasoning) {
        let message = view.message_id();
        let is_open =
            message.is_some() && message == self.turn.message && !self.turn.heard_is_written;
        let is_late = !is_open && message.is_some_and(|id| self.responses.contains(&id));
        // Reasoning belongs with the rest of its response; the API refuses it elsewhere.
        let thinking = if is_late {
            ThinkingDelivery::Stripped
        } else {
            thinking
        };
        let stripped = match thinking {
            ThinkingDelivery::Sent => 0,
            ThinkingDelivery::Stripped => block::thoughts(view),
        };
        let pieces = block::response_blocks(view, &self.rules, thinking);
        if pieces.is_empty() && !is_open {
            let before = self.stripped.filter(|(id, _)| message == Some(*id));
            let before = before.map_or(0, |(_, count)| count);
            self.stripped = message.map(|id| (id, before + stripped));
            return;
        }
        if !is_open {
            self.close(bare);
            self.turn = TurnPieces::of(message);
            self.responses.extend(message);
            let before = self.stripped.take().filter(|(id, _)| message == Some(*id));
            self.turn.stripped = before.map_or(0, |(_, count)| count);
        }
        self.turn.stripped += stripped;
        for mut piece in pieces {
            self.note_call(&mut piece);
            self.turn.said.push(piece);
        }
    }

    /// Registers a call. A second call with the same id cannot be sent as a call.
    fn note_call(&mut self, piece: &mut BlockPiece) {
        let id = match &piece.part {
            BlockPart::Call(call) => call.id,
            BlockPart::ServerCall(id, _) => *id,
            _ => return,
        };
        if !self.call_ids.insert(id) {
            block::become_text(piece);
        } else if let BlockPart::Call(call) = &piece.part {
            self.calls.insert(call.id, AnswerState::Awaited);
            self.turn.calls.push(call.clone());
        }
    }

    fn result(&mut self, view: EntryView<'_>, index: usize) {
        let Some(call) = block::answers(view, index) else {
            return;
        };
        match self.calls.get_mut(&call) {
            // The call is not sent, so its result cannot be sent either.
            None => {}
            Some(answer @ AnswerState::Awaited) => {
                *answer = AnswerState::Given;
                let piece = block::result(view, index, &self.rules, &mut self.images);
                self.turn.results.push(piece);
            }
            Some(AnswerState::Given) => {
                let pieces = block::late_result(view, index, &self.rules, &mut self.images);
                self.turn.inputs.extend(pieces);
            }
        }
    }

    /// Ends the turn because another response begins.
    fn close(&mut self, bare: BareReasoning) {
        if bare == BareReasoning::Dropped && self.turn.only_thinks() {
            return;
        }
        self.write();
    }

    fn write(&mut self) {
        let synthetic: Vec<ClientToolCall> = self.awaited().cloned().collect();
        for call in synthetic {
            self.calls.insert(call.id, AnswerState::Given);
            let piece = block::unanswered(&call, &self.rules);
            self.turn.results.push(piece);
        }
        self.turn.write(&mut self.writer, &mut self.opening);
    }
}

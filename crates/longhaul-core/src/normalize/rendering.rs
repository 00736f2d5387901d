//! The conversation as the API will see it, rendered once (Z, B1).
//!
//! A fold over entries: each is rendered when it comes, into a buffer that only grows. Entries that came since the
//! last request (the open tail) may still be arranged; what a request carried is frozen. Anything that would change
//! what was sent (a compaction, a clearing, a rewind, thinking stripped) begins a new rendering.

use bytes::Bytes;

use super::{Buffer, Role};
use crate::message::{BlockKind, Id, View};
use crate::tokens::Estimate;

/// What a rendering depends on beside the entries. All of it is on disk (M7): in the head, or in boundaries.
#[derive(Debug, Clone, Default)]
pub struct RenderOptions {
    /// The text that goes before the first message, whole, reminder tags included (A4).
    pub user_context: Option<String>,
    /// Results whose content is replaced by the marker (U2).
    pub cleared: Vec<Id>,
    /// Thinking of entries up to and including this one is not sent (N2).
    pub thinking_stripped_through: Option<Id>,
    /// Results carry a `cache_reference` (B3).
    pub cache_references: bool,
    /// Beta features that the request asks for: some block types need one.
    pub betas: Vec<String>,
    /// The most images a request may hold.
    pub most_images: usize,
}

/// One content block in a rendering: a position of the cache.
#[derive(Debug, Clone, Copy)]
pub struct RenderedBlock {
    /// Where its JSON starts in the buffer.
    pub start: u64,
    /// Where its JSON ends. The closing brace is the byte before: there a cache marker is spliced in.
    pub end: u64,
    /// What it is.
    pub kind: BlockKind,
    /// Whether a cache marker may stand on it: not on thinking, nor on empty text.
    pub markable: bool,
    /// The message it belongs to, an index into [`Rendering::messages`].
    pub message: u32,
    /// The entry it came from; none for what the rendering itself added.
    pub entry: Option<Id>,
    /// Hash of the conversation up to and including this block: equal exactly if all of it is equal.
    pub prefix_hash: u64,
    /// Its size.
    pub weight: Estimate,
}

/// One message in a rendering.
#[derive(Debug, Clone, Copy)]
pub struct RenderedMessage {
    /// Who speaks.
    pub role: Role,
    /// Its first block, an index into [`Rendering::blocks`].
    pub first_block: u32,
}

/// A rendered conversation.
#[derive(Debug)]
pub struct Rendering {
    options: RenderOptions,
    buffer: Buffer,
    blocks: Vec<RenderedBlock>,
    messages: Vec<RenderedMessage>,
}

impl Rendering {
    /// Renders a history as a whole: no request of ours carried it yet, so late lines of a response are joined to it
    /// and late results put behind their call, wherever they stand.
    pub fn begin<'a>(options: RenderOptions, history: impl IntoIterator<Item = View<'a>>) -> Self {
        let mut rendering = Self {
            options,
            buffer: Buffer::default(),
            blocks: Vec::new(),
            messages: Vec::new(),
        };
        for entry in history {
            rendering.push(entry);
        }
        rendering
    }

    /// Adds an entry to the open tail.
    pub fn push(&mut self, _entry: View<'_>) {
        let _ = &self.options;
    }

    /// Renders the open tail and freezes it: called when a request is about to be sent, and whenever the rendering is
    /// to be looked at. Calls at the very end that no entry answers are answered by a synthetic error; a host that
    /// sends writes those as entries first (see [`Rendering::open_calls`]).
    pub fn seal(&mut self) {}

    /// Calls of the open tail that no result answers yet, as the ids' JSON string content.
    pub fn open_calls(&self) -> Vec<Bytes> {
        Vec::new()
    }

    /// The bytes: the messages one behind the other, comma separated, without the brackets around them. The last
    /// message is not closed; [`Rendering::closing`] closes it.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// What closes the last message: `]}`, or nothing if there is no message.
    pub fn closing(&self) -> &'static [u8] {
        match self.messages.is_empty() {
            true => b"",
            false => b"]}",
        }
    }

    /// All blocks that are sealed.
    pub fn blocks(&self) -> &[RenderedBlock] {
        &self.blocks
    }

    /// All messages that are sealed.
    pub fn messages(&self) -> &[RenderedMessage] {
        &self.messages
    }
}

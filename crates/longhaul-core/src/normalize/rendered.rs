//! Where the blocks and messages of a rendering lie.

use super::MessageRole;
use crate::message::{BlockKind, Id};
use crate::tokens::Estimate;

/// One content block in a rendering: a position of the cache.
#[derive(Debug, Clone, Copy)]
pub struct RenderedBlock {
    /// Where its JSON starts in the buffer.
    pub start: u64,
    /// Where its JSON ends. The closing brace is the byte before: there a cache marker is spliced in.
    pub end: u64,
    /// What it is.
    pub kind: BlockKind,
    /// Whether a cache marker may stand on it: not on thinking, nor on blank text.
    pub markable: bool,
    /// The message it belongs to, an index into [`Rendering::messages`](super::Rendering::messages).
    pub message: u32,
    /// The entry it came from; none for what the rendering itself added.
    pub entry: Option<Id>,
    /// How it came to be what it is.
    pub origin: BlockOrigin,
    /// Hash of the conversation up to and including this block: equal exactly if all of it is equal.
    pub prefix_hash: u64,
    /// Its size.
    pub weight: Estimate,
}

/// One message in a rendering.
#[derive(Debug, Clone, Copy)]
pub struct RenderedMessage {
    /// Who speaks.
    pub role: MessageRole,
    /// Its first block, an index into [`Rendering::blocks`](super::Rendering::blocks).
    pub first_block: u32,
    /// How many of its thinking blocks are not sent (N2).
    pub stripped: u32,
}

/// How a block came to be what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BlockOrigin {
    /// The user, a tool or the model said it.
    #[default]
    Said,
    /// The text before the first message (A4).
    Context,
    /// A compaction's summary.
    Summary,
    /// The host tells it beside the user's words: an attachment, a result that came late.
    Reminder,
    /// A result whose content gave way to the marker (U2).
    Cleared,
    /// A picture that gave way to a text.
    LeftOut,
    /// Made up, because the API wants something there: the result of a call that nobody answered.
    Synthetic,
    /// What the API would not take, as text.
    Wrapped,
}

//! The positions of the blocks and messages of a rendering.

use super::MessageRole;
use crate::message::{BlockKind, Id};
use crate::tokens::Estimate;

/// One content block in a rendering, which is one position in the cache.
#[derive(Debug, Clone, Copy)]
pub struct RenderedBlock {
    /// The offset in the buffer at which the block's JSON starts.
    pub start: u64,
    /// The offset at which the block's JSON ends. A cache breakpoint is inserted before the last byte, which is the
    /// closing brace.
    pub end: u64,
    /// The kind of the block.
    pub kind: BlockKind,
    /// Whether the block may have a cache breakpoint. Thinking and blank text may not.
    pub markable: bool,
    /// The message that the block belongs to, as an index into [`Rendering::messages`](super::Rendering::messages).
    pub message: u32,
    /// The entry that the block came from; `None` if the rendering itself added the block.
    pub entry: Option<Id>,
    /// How the block came about.
    pub origin: BlockOrigin,
    /// The hash of the conversation up to and including this block. Two hashes are equal exactly if all of it is equal.
    pub prefix_hash: u64,
    /// The estimated size of the block.
    pub weight: Estimate,
}

/// One message in a rendering.
#[derive(Debug, Clone, Copy)]
pub struct RenderedMessage {
    /// The speaker of the message.
    pub role: MessageRole,
    /// The message's first block, as an index into [`Rendering::blocks`](super::Rendering::blocks).
    pub first_block: u32,
    /// How many thinking blocks of the message are not sent (N2).
    pub stripped: u32,
}

/// How a block came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BlockOrigin {
    /// The user, a tool or the model wrote the block.
    #[default]
    Said,
    /// The block is the text before the first message (A4).
    Context,
    /// The block is a compaction's summary.
    Summary,
    /// The host added the block to the user's words: an attachment, or a result that arrived late.
    Reminder,
    /// The block is a result whose content was replaced by the marker (U2).
    Cleared,
    /// The block is a text that replaces a picture.
    LeftOut,
    /// The block was made up because the API requires one: it is the result of a call that was never answered.
    Synthetic,
    /// The block is a text that replaces one that the API would not accept.
    Wrapped,
}

//! A request laid out as the provider caches it: positions in order, tools before system before messages.

use crate::request::Ttl;

/// The levels of a prompt. A change at one invalidates those behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Tool definitions.
    Tools,
    /// The system prompt.
    System,
    /// The conversation.
    Messages,
}

/// One position: a tool definition, a system block or a message content block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Its level.
    pub level: Level,
    /// Where it stands in the request, as in `messages.3.content.1`.
    pub place: String,
    /// Hash of everything up to and including it, with what else is part of the key at its level.
    pub prefix: u128,
    /// Its tokens.
    pub tokens: u64,
    /// A cache breakpoint ends here.
    pub marker: Option<Ttl>,
}

/// A prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Its positions in order.
    pub positions: Vec<Position>,
    /// Tokens in all, overhead included.
    pub tokens: u64,
}

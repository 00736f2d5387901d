//! A request laid out as the provider caches it: positions in order, tools before system before messages.
//!
//! `key` says what else is part of the cache key and at which level; `layout` makes positions and extends those of an
//! earlier request of the same conversation; `chain` makes prefixes of them; `parts` says what of a request stands in
//! the prompt, `extra` what the provider adds; `edit` takes blocks out of a layout or puts others in their place;
//! `automatic` places the breakpoint of top-level `cache_control`.

pub mod automatic;
mod chain;
mod edit;
mod extra;
pub mod key;
pub mod layout;
mod parts;

pub use edit::{BlockChange, BlockChanges};
pub use parts::{ConversationStart, begin};

use crate::request::CacheLifetime;

/// The levels of a prompt. A change at one invalidates those behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PromptLevel {
    /// Tool definitions.
    Tools,
    /// The system prompt.
    System,
    /// The conversation.
    Messages,
}

/// One position: a tool definition, a system block or a message content block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPosition {
    /// Its level.
    pub level: PromptLevel,
    /// Where it stands in the request, as in `messages.3.content.1`.
    pub place: String,
    /// Hash of everything up to and including it, with what else is part of the key at its level.
    pub prefix: u128,
    /// Its tokens.
    pub tokens: u64,
    /// A cache breakpoint ends here.
    pub marker: Option<CacheLifetime>,
    /// Hash of itself, with the role it is spoken in.
    pub identity: u128,
    /// Tokens of the prompt up to and including it.
    pub end: u64,
}

/// A prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaidOutPrompt {
    /// Its positions in order.
    pub positions: Vec<PromptPosition>,
    /// Tokens in all, overhead included.
    pub tokens: u64,
    /// Which positions end a breakpoint, in order.
    pub markers: Vec<usize>,
}

impl LaidOutPrompt {
    /// Tokens up to and including the last of the first `count` positions.
    pub fn up_to(&self, count: usize) -> u64 {
        count
            .checked_sub(1)
            .and_then(|last| self.positions.get(last))
            .map_or(0, |position| position.end)
    }

    /// The breakpoints in order, each as the index of its position and its lifetime.
    pub fn breakpoints(&self) -> impl DoubleEndedIterator<Item = (usize, CacheLifetime)> {
        self.markers
            .iter()
            .filter_map(|&index| Some((index, self.positions.get(index)?.marker?)))
    }
}

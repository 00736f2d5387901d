//! The layout of a request as the provider caches it: positions in order, tools before system before messages.
//!
//! `key` defines what else is part of the cache key and at which level; `layout` makes positions and extends those of
//! an earlier request of the same conversation, and `scheme` is what they depend on besides the request; `chain` makes
//! prefixes of them; `parts` decides which parts of a request are in the prompt, `extra` what the provider adds; `edit`
//! removes or replaces blocks of a layout; `automatic` places the breakpoint of top-level `cache_control`.

pub mod automatic;
mod chain;
mod edit;
mod extra;
pub mod key;
pub mod layout;
mod parts;
pub mod scheme;

pub(crate) use edit::{BlockChange, BlockChanges};
pub use parts::{ConversationStart, begin};

use crate::request::CacheLifetime;

/// The levels of a prompt. A change at one level invalidates those after it.
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
    /// The level of the position.
    pub level: PromptLevel,
    /// The place in the request, such as `messages.3.content.1`.
    pub place: String,
    /// The hash of everything up to and including the position, with the other parts of the key at its level.
    pub prefix: u128,
    /// The tokens of the position.
    pub tokens: u64,
    /// The lifetime of the cache breakpoint that ends here, if any.
    pub marker: Option<CacheLifetime>,
    /// The hash of the position itself, with its role.
    pub identity: u128,
    /// The tokens of the prompt up to and including the position.
    pub end: u64,
}

/// A prompt, laid out as positions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaidOutPrompt {
    /// The positions in order.
    pub positions: Vec<PromptPosition>,
    /// The total number of tokens, including overhead.
    pub tokens: u64,
    /// The positions with a breakpoint, in order.
    pub markers: Vec<usize>,
}

impl LaidOutPrompt {
    /// The tokens up to and including the last of the first `count` positions.
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

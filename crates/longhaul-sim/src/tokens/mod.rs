//! How many tokens things are: real byte-pair counts, scaled to the tokenizer family of the model.
//!
//! The provider's tokenizer is not public. `cl100k` splits text in much the same places; a factor per family brings
//! its counts to the provider's level, and small constants stand for the framing around messages and calls. What the
//! factors are checked against is in `tests/it/replay.rs`. Counts are remembered by the identity of a block, so a long
//! history costs only what is new.

mod family;
mod image;
mod memo;
mod weigh;

pub use family::TokenizerFamily;

use memo::TokenMemo;

use crate::request::{ApiBlock, ApiTool};

/// Tokens before the text of the first message.
pub(crate) const FIRST_MESSAGE: u64 = 4;
/// Tokens before the text of each further message.
pub(crate) const NEXT_MESSAGE: u64 = 3;
/// Tokens behind the last message, where the reply begins. They are in front of no breakpoint.
pub(crate) const OPENING: u64 = 3;
/// Tokens of a reply that are not text: its end.
pub(crate) const CLOSING: u64 = 3;

/// Counts tokens and remembers what it counted.
#[derive(Debug, Default)]
pub struct TokenCounter {
    memo: TokenMemo,
}

impl TokenCounter {
    /// Tokens of a content block whose identity is known.
    pub fn block(&mut self, block: &ApiBlock, identity: u128, family: TokenizerFamily) -> u64 {
        self.memo
            .get_or(identity, family, || weigh::block(block, family))
    }

    /// Tokens of a tool definition whose identity is known.
    pub fn tool(&mut self, tool: &ApiTool, identity: u128, family: TokenizerFamily) -> u64 {
        self.memo
            .get_or(identity, family, || weigh::tool(tool, family))
    }

    /// Tokens of a text.
    pub fn text(&self, text: &str, family: TokenizerFamily) -> u64 {
        family.count(text)
    }

    /// Tokens of a call as the model writes it.
    pub fn call(&self, name: &str, input: &serde_json::Value, family: TokenizerFamily) -> u64 {
        weigh::call(name, input, family)
    }
}

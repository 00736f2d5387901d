//! Token counts: real byte-pair counts, scaled to the tokenizer family of the model.
//!
//! The provider's tokenizer is not public. `cl100k` splits text in much the same places; a factor per family brings its
//! counts to the provider's level, and small constants represent the framing around messages and calls.
//! `tests/it/replay.rs` checks the factors. Counts are remembered by the identity of a block, so a long history costs
//! only its new part.

mod family;
mod image;
mod memo;
mod pieces;
mod vocabulary;
mod weigh;

pub use family::TokenizerFamily;

use memo::TokenMemo;

use crate::request::{ApiBlock, ApiTool};

/// The tokens before the text of the first message.
pub(crate) const FIRST_MESSAGE: u64 = 4;
/// The tokens before the text of each further message.
pub(crate) const NEXT_MESSAGE: u64 = 3;
/// The tokens after the last message, where the reply begins. No breakpoint comes after them.
pub(crate) const OPENING: u64 = 3;
/// The tokens of a reply that are not text: its end.
pub(crate) const CLOSING: u64 = 3;

/// Counts tokens and remembers the counts.
#[derive(Debug, Default)]
pub(crate) struct TokenCounter {
    memo: TokenMemo,
}

impl TokenCounter {
    /// Tokens of a content block whose identity is known.
    pub(crate) fn block(
        &mut self,
        block: &ApiBlock,
        identity: u128,
        family: TokenizerFamily,
    ) -> u64 {
        self.memo
            .get_or(identity, family, || weigh::block(block, family))
    }

    /// Tokens of a tool definition whose identity is known.
    pub(crate) fn tool(&mut self, tool: &ApiTool, identity: u128, family: TokenizerFamily) -> u64 {
        self.memo
            .get_or(identity, family, || weigh::tool(tool, family))
    }

    /// Tokens of a text.
    pub(crate) fn text(&self, text: &str, family: TokenizerFamily) -> u64 {
        family.count(text)
    }

    /// Tokens of a call as the model writes it.
    pub(crate) fn call(
        &self,
        name: &str,
        input: &serde_json::Value,
        family: TokenizerFamily,
    ) -> u64 {
        weigh::call(name, input, family)
    }
}

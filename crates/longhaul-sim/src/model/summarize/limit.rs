//! How long a summary may be: its text is shared out in bytes, its limit is counted in tokens, by the counter that books a
//! reply and cuts it at `max_tokens`. How many bytes a token has depends on the language and the tokenizer, so it is measured
//! on the summary itself.

use super::SHORTEST;
use crate::tokens::TokenizerFamily;

/// How often a summary is written anew before it is left as it is.
const MOST_TRIES: usize = 12;

/// What a summary must not exceed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// Tokens of the reply.
    pub(super) tokens: u64,
    /// How they are counted.
    pub(super) tokenizer: TokenizerFamily,
    /// Bytes it is written with at first.
    pub(super) bytes: usize,
}

impl Limit {
    /// The longest text that `write` makes within the limit. Where even the shortest does not fit, the shortest.
    pub(super) fn longest(&self, write: impl Fn(usize) -> String) -> String {
        let mut room = self.bytes;
        let mut text = write(room);
        for _ in 0..MOST_TRIES {
            let tokens = self.tokenizer.count(&text);
            if tokens <= self.tokens || room <= SHORTEST {
                break;
            }
            // Shorter by as much as it is too long, and a little more: what is left may have more tokens to the byte.
            let length = room.min(text.len()) as u128;
            let share = length * u128::from(self.tokens) * 97 / (u128::from(tokens) * 100);
            room = usize::try_from(share).unwrap_or(room).max(SHORTEST);
            text = write(room);
        }
        text
    }
}

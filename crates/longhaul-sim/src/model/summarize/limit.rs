//! The length limit of a summary: its text is allotted in bytes, but its limit is counted in tokens, by the counter
//! that bills a reply and truncates it at `max_tokens`. How many bytes a token has depends on the language and the
//! tokenizer, so it is measured on the summary itself.

use super::SHORTEST;
use crate::tokens::TokenizerFamily;

/// The maximum number of attempts before a summary is left as it is.
const MOST_TRIES: usize = 12;

/// The limit of a summary.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// The maximum number of tokens in the reply.
    pub(super) tokens: u64,
    /// The tokenizer that counts them.
    pub(super) tokenizer: TokenizerFamily,
    /// The number of bytes for the first attempt.
    pub(super) bytes: usize,
}

impl Limit {
    /// The longest text that `write` makes within the limit. If even the shortest does not fit, it is the shortest.
    pub(super) fn longest(&self, write: impl Fn(usize) -> String) -> String {
        let mut room = self.bytes;
        let mut text = write(room);
        for _ in 0..MOST_TRIES {
            let tokens = self.tokenizer.count(&text);
            if tokens <= self.tokens || room <= SHORTEST {
                break;
            }
            // Shorten by as much as the text is too long, and a little more: the rest may have more tokens per byte.
            let length = room.min(text.len()) as u128;
            let share = length * u128::from(self.tokens) * 97 / (u128::from(tokens) * 100);
            room = usize::try_from(share).unwrap_or(room).max(SHORTEST);
            text = write(room);
        }
        text
    }
}

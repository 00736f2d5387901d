//! Identity of entries, messages and tool calls.

use std::num::NonZeroU128;

use crate::json;
use crate::xxh3::xxh3_128;

/// A 128-bit hash of an id's text: entry uuid, API message id or tool_use id.
///
/// Transcripts of other programs may use any text as an id, so ids are compared by hash: it has a fixed size, needs no
/// allocation, and no two ids of a file will ever collide by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(NonZeroU128);

impl Id {
    /// The id with this text.
    pub fn of(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    /// The id whose text is the content of a JSON string literal.
    pub(crate) fn of_literal(content: &[u8]) -> Self {
        if memchr::memchr(b'\\', content).is_some() {
            Self::of(&json::decode(content))
        } else {
            Self::of_bytes(content)
        }
    }

    fn of_bytes(text: &[u8]) -> Self {
        // Zero is excluded so that an optional id takes no more space than an id.
        Self(NonZeroU128::new(xxh3_128(text)).unwrap_or(NonZeroU128::MIN))
    }
}

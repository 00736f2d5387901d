//! The rolling hash over a conversation: after each message, one value that stands for all up to it.
//!
//! Two requests have the same value after a message exactly if the same was said by the same in the same order up to
//! there. Messages of role system are left out: clients put them in and take them out between requests. What is rolled
//! together are keyed hashes, so this one needs no key.

use longhaul_core::xxh3::Xxh3_128;

use super::hashed_message::HashedMessage;
use crate::body::BodyRole;

/// The hash of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct HistoryChain {
    /// The rolling hash.
    pub hash: u128,
    /// How many messages it stands for.
    pub messages: u32,
    /// Whether the model has spoken in it.
    pub answered: bool,
}

impl HistoryChain {
    /// With one more message.
    #[must_use]
    pub fn then(self, next: HashedMessage) -> Self {
        if next.role == BodyRole::System {
            return self;
        }
        let mut hash = Xxh3_128::new();
        hash.update(&self.hash.to_le_bytes());
        hash.update(&next.hash.to_le_bytes());
        Self {
            hash: hash.digest(),
            messages: self.messages + 1,
            answered: self.answered || next.role == BodyRole::Assistant,
        }
    }
}

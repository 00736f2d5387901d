//! The rolling hash over a conversation: after each message, one value stands for all messages up to it.
//!
//! Two requests have the same value after a message exactly if the same speakers said the same things in the same order
//! up to that point. Messages of role system are left out, because clients add and remove them between requests. The
//! hashes that are combined are already keyed, so this one needs no key.

use longhaul_core::xxh3::Xxh3_128;

use super::hashed_message::HashedMessage;
use crate::body::BodyRole;

/// The hash of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct HistoryChain {
    /// The rolling hash.
    pub hash: u128,
    /// How many messages the hash covers.
    pub messages: u32,
    /// Whether the history contains a message from the model.
    pub answered: bool,
}

impl HistoryChain {
    /// Returns the chain extended by one message.
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

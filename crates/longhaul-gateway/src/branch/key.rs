//! The key of the hashes that decide which history a request has.
//!
//! What stands for the beginning of a history is found by a hash of that history. Somebody who can say what is in a
//! conversation (a web page that a tool reads, say) must not be able to make two histories that hash alike, so the hash has
//! a key. It is made from the tenants' secret: gateways that share a store share it, and the store alone does not tell it.

use std::hash::Hasher as _;

use longhaul_core::cache::canonical::CanonicalHasher;
use siphasher::sip128::{Hasher128 as _, SipHasher24};

/// See the module.
#[derive(Clone, Copy)]
pub struct HistoryKey {
    of_messages: (u64, u64),
    of_bytes: u64,
}

impl std::fmt::Debug for HistoryKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HistoryKey")
    }
}

impl HistoryKey {
    /// Made of secret bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        let (words, _) = secret.as_chunks::<8>();
        let word = |at: usize| words.get(at).copied().map_or(0, u64::from_le_bytes);
        Self {
            of_messages: (word(0), word(1)),
            of_bytes: word(2),
        }
    }

    /// A hash of one message's canonical form. It is kept in stores, so it has the whole key.
    pub(super) fn digest(&self) -> KeyedDigest {
        let (first, second) = self.of_messages;
        KeyedDigest(SipHasher24::new_with_keys(first, second))
    }

    /// The seed of hashes over plain bytes, which are fast, live in memory alone and are shown to nobody.
    pub(super) fn seed(&self) -> u64 {
        self.of_bytes
    }
}

/// A keyed hash under way.
pub(super) struct KeyedDigest(SipHasher24);

impl CanonicalHasher for KeyedDigest {
    fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn finish(self) -> u128 {
        self.0.finish128().as_u128()
    }
}

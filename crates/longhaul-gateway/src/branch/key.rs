//! The key of the hashes that identify a request's history.
//!
//! A compacted prefix is found by a hash of the history that it replaces. An outsider who can put text into a
//! conversation (for example through a web page that a tool reads) must not be able to construct two histories with the
//! same hash, so the hash has a key. The key is derived from the tenants' secret: gateways that share a store share it,
//! and the store alone does not reveal it.

use std::hash::Hasher as _;

use longhaul_core::cache::canonical::CanonicalHasher;
use siphasher::sip128::{Hasher128 as _, SipHasher24};

/// The key of the hashes that identify a request's history.
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
    /// Derives the key from secret bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        let (words, _) = secret.as_chunks::<8>();
        let word = |at: usize| words.get(at).copied().map_or(0, u64::from_le_bytes);
        Self {
            of_messages: (word(0), word(1)),
            of_bytes: word(2),
        }
    }

    /// A hasher for one message's canonical form. Its hashes are written to stores, so it uses the whole key.
    pub(super) fn digest(&self) -> KeyedDigest {
        let (first, second) = self.of_messages;
        KeyedDigest(SipHasher24::new_with_keys(first, second))
    }

    /// The seed of hashes over plain bytes, which are fast, live only in memory and are never exposed.
    pub(super) fn seed(&self) -> u64 {
        self.of_bytes
    }
}

/// A keyed hash in progress.
pub(super) struct KeyedDigest(SipHasher24);

impl CanonicalHasher for KeyedDigest {
    fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn finish(self) -> u128 {
        self.0.finish128().as_u128()
    }
}

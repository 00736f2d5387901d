//! Seals: a keyed hash beside what is stored, by which damage is noticed when it is read again.
//!
//! The length of each part goes into it, so nothing can be cut off or moved over either. Its key is made from the tenants'
//! secret: somebody who can write to the store, but has not the secret, cannot put words into a conversation.

use ring::hmac;

/// Bytes of a seal.
const LENGTH: usize = 16;

/// What is stored beside a text to know it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal(pub [u8; LENGTH]);

impl Seal {
    /// As it was stored; none if that is no seal.
    pub fn stored(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// What seals are made with.
#[derive(Clone)]
pub struct SealKey(hmac::Key);

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey")
    }
}

impl SealKey {
    /// Made of secret bytes.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// The seal of these parts, in this order.
    pub fn seal(&self, parts: &[&[u8]]) -> Seal {
        let mut context = hmac::Context::with_key(&self.0);
        for part in parts {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        let tag = context.sign();
        Seal(tag.as_ref().first_chunk().copied().unwrap_or_default())
    }
}

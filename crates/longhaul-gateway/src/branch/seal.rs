//! Seals: a keyed hash beside stored data, by which damage is noticed when the data is read again.
//!
//! The hash includes the length of each part, so nothing can be cut off or moved from one part to another. The key is
//! derived from the tenants' secret: someone who can write to the store but does not have the secret cannot put words
//! into a conversation.

use ring::hmac;

/// Bytes of a seal.
const LENGTH: usize = 16;

/// The hash that is stored beside a text to detect changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal(pub [u8; LENGTH]);

impl Seal {
    /// Reads a stored seal; `None` if the bytes are not a valid seal.
    pub fn stored(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// The key that seals are made with.
#[derive(Clone)]
pub struct SealKey(hmac::Key);

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey")
    }
}

impl SealKey {
    /// Derives the key from secret bytes.
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

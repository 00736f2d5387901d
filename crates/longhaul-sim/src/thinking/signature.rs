//! Signatures: what the world vouches for, with a keyed hash over it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longhaul_core::xxh3::{xxh3_64, xxh3_128};

use super::prefix::ThinkingPrefix;

/// The world's signing key. Two worlds with the same seed accept each other's signatures.
#[derive(Clone)]
pub struct SigningSecret(u128);

impl std::fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// What a signature is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignedKind {
    Thinking,
    Summary,
}

/// The content of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SignaturePayload {
    pub(super) kind: SignedKind,
    /// The model that made the block.
    pub(super) model: String,
    /// The account that it was made for, hashed.
    pub(super) account: u64,
    /// The hash of the text.
    pub(super) text: u128,
    /// The content before the block; for a summary, the content that it replaces.
    pub(super) prefix: ThinkingPrefix,
}

impl SigningSecret {
    /// The secret for a world's seed.
    pub fn from_seed(seed: u64) -> SigningSecret {
        SigningSecret(xxh3_128(
            &[b"longhaul world ".as_slice(), &seed.to_le_bytes()].concat(),
        ))
    }

    /// Signs a thinking block: `model` is the id of its [`ModelSpec`](longhaul_core::models::ModelSpec), `key` is the
    /// caller's, and `text` is the part that the caller is shown.
    pub fn sign(&self, prefix: &ThinkingPrefix, model: &str, key: &str, text: &str) -> String {
        self.seal(&SignaturePayload {
            kind: SignedKind::Thinking,
            model: model.to_owned(),
            account: account(key),
            text: xxh3_128(text.as_bytes()),
            prefix: prefix.clone(),
        })
    }

    pub(super) fn seal(&self, seal: &SignaturePayload) -> String {
        let mut bytes = vec![match seal.kind {
            SignedKind::Thinking => 1,
            SignedKind::Summary => 2,
        }];
        bytes.extend(seal.account.to_le_bytes());
        bytes.extend(seal.text.to_le_bytes());
        bytes.extend(seal.prefix.to_bytes());
        bytes.extend(seal.model.as_bytes());
        bytes.extend(self.mac(&bytes).to_le_bytes());
        STANDARD.encode(bytes)
    }

    /// The content of a signature; `None` if it is not one of ours.
    pub(super) fn open(&self, signature: &str) -> Option<SignaturePayload> {
        let bytes = STANDARD.decode(signature).ok()?;
        let (bytes, mac) = bytes.split_last_chunk::<16>()?;
        if u128::from_le_bytes(*mac) != self.mac(bytes) {
            return None;
        }
        let (kind, bytes) = bytes.split_first()?;
        let (account, bytes) = bytes.split_first_chunk::<8>()?;
        let (text, bytes) = bytes.split_first_chunk::<16>()?;
        let (prefix, model) = bytes.split_first_chunk::<{ ThinkingPrefix::BYTES }>()?;
        Some(SignaturePayload {
            kind: match kind {
                1 => SignedKind::Thinking,
                2 => SignedKind::Summary,
                _ => return None,
            },
            model: String::from_utf8(model.to_vec()).ok()?,
            account: u64::from_le_bytes(*account),
            text: u128::from_le_bytes(*text),
            prefix: ThinkingPrefix::from_bytes(prefix),
        })
    }

    fn mac(&self, bytes: &[u8]) -> u128 {
        let key = self.0.to_le_bytes();
        xxh3_128(&[key.as_slice(), bytes, key.as_slice()].concat())
    }
}

/// The hash of an account's key.
pub(super) fn account(key: &str) -> u64 {
    xxh3_64(key.as_bytes())
}

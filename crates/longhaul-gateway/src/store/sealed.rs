//! What is stored with a seal beside it: by that it is known again as it was, when it is read.

use super::{CompactedPrefix, NotesRecord};
use crate::branch::{Seal, SealKey};

/// Something from a store, and the seal that lay beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sealed<T> {
    /// As it was read. Whether it is as it was written is not known.
    pub stored: T,
    /// None if what lay beside it is no seal.
    pub seal: Option<Seal>,
}

/// What can be sealed.
pub trait Sealable: Sized {
    /// The seal of all that matters in it. Whose it is does not: a key may turn out to be an organisation's.
    fn seal(&self, key: &SealKey) -> Seal;

    /// Itself with its seal.
    fn sealed(self, key: &SealKey) -> Sealed<Self> {
        let seal = Some(self.seal(key));
        Sealed { stored: self, seal }
    }
}

impl<T: Sealable> Sealed<T> {
    /// What was stored, if it is as it was when it was sealed.
    pub fn open(self, key: &SealKey) -> Option<T> {
        let intact = self.seal.is_some() && self.seal == Some(self.stored.seal(key));
        intact.then_some(self.stored)
    }
}

impl Sealable for CompactedPrefix {
    fn seal(&self, key: &SealKey) -> Seal {
        let root = self.root.map(u128::to_le_bytes).unwrap_or_default();
        let rooted = [u8::from(self.root.is_some()), u8::from(self.settled)];
        let cleared = self.cleared.iter().map(String::as_bytes);
        let mut parts: Vec<&[u8]> = cleared.collect();
        let (at, messages) = (self.at.to_le_bytes(), self.messages.to_le_bytes());
        let summary = (self.summary as u64).to_le_bytes();
        parts.extend([
            &b"rewrite"[..],
            &at,
            &messages,
            &self.text,
            &rooted,
            &root,
            &summary,
            &self.lines,
            self.made.kind.name().as_bytes(),
        ]);
        key.seal(&parts)
    }
}

impl Sealable for NotesRecord {
    fn seal(&self, key: &SealKey) -> Seal {
        let (at, messages) = (self.at.to_le_bytes(), self.messages.to_le_bytes());
        let tokens = self.tokens.to_le_bytes();
        key.seal(&[b"notes", &at, &messages, &tokens, self.text.as_bytes()])
    }
}

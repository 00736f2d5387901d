//! Records with a seal beside them, by which a changed record is noticed when it is read.

use super::{CompactedPrefix, NotesRecord, RecallRecord};
use crate::branch::{Seal, SealKey};

/// A record from a store, and the seal beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sealed<T> {
    /// The record as it was read. It may have been changed since it was written.
    pub stored: T,
    /// `None` if the bytes beside it are not a valid seal.
    pub seal: Option<Seal>,
}

/// A record that can be sealed.
pub trait Sealable: Sized {
    /// The seal of everything that matters in it. The tenant does not: a key may turn out to belong to an organization.
    fn seal(&self, key: &SealKey) -> Seal;

    /// The record with its seal.
    fn sealed(self, key: &SealKey) -> Sealed<Self> {
        let seal = Some(self.seal(key));
        Sealed { stored: self, seal }
    }
}

impl<T: Sealable> Sealed<T> {
    /// The record, if it is unchanged since it was sealed.
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
        // An earlier version would send a derived prefix without its messages: to that, the seal is broken.
        let derived = self.derived_column();
        if let Some(derived) = &derived {
            parts.push(derived.as_bytes());
        }
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

impl Sealable for RecallRecord {
    fn seal(&self, key: &SealKey) -> Seal {
        let (at, variant) = (self.at.to_le_bytes(), self.variant.to_le_bytes());
        key.seal(&[b"recall", &at, &variant, &self.text])
    }
}

//! Records with a seal beside them, by which a changed record is noticed when it is read.

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

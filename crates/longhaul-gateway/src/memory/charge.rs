//! Bytes that are held for a while, and given back when whoever holds them is done.

use bytes::Bytes;

use super::budget::{Budget, NoRoom};

/// Room in the budget, given back when it is dropped.
#[derive(Debug)]
pub struct Charge {
    budget: Budget,
    bytes: usize,
}

impl Charge {
    pub(super) fn new(budget: Budget, bytes: usize) -> Self {
        Self { budget, bytes }
    }

    /// Takes more. If there is no room, what was taken stays.
    pub fn grow(&mut self, more: usize) -> Result<(), NoRoom> {
        self.budget.add_if_it_fits(more)?;
        self.bytes += more;
        Ok(())
    }

    /// Gives back all but so much. It never takes more.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(less @ 1..) = self.bytes.checked_sub(bytes) {
            self.budget.give_back(less);
            self.bytes = bytes;
        }
    }

    /// How much it is.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that give this back when the last clone and the last slice of them are gone.
    pub fn hold(self, bytes: Bytes) -> Bytes {
        Held::bytes(bytes, self)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// Bytes with the charge for them.
pub(super) struct Held {
    bytes: Bytes,
    _charge: Charge,
}

impl Held {
    pub(super) fn bytes(bytes: Bytes, charge: Charge) -> Bytes {
        Bytes::from_owner(Self {
            bytes,
            _charge: charge,
        })
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

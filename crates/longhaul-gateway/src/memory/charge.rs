//! Bytes that are held for a while, and given back when whoever holds them is done.

use bytes::Bytes;

use super::budget::{BudgetExhausted, MemoryBudget};

/// Room in the budget, given back when it is dropped.
#[derive(Debug)]
pub struct MemoryCharge {
    budget: MemoryBudget,
    bytes: usize,
}

impl MemoryCharge {
    pub(super) fn new(budget: MemoryBudget, bytes: usize) -> Self {
        Self { budget, bytes }
    }

    /// Takes more. If there is no room, what was taken stays.
    pub fn grow(&mut self, more: usize) -> Result<(), BudgetExhausted> {
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
        ChargedBytes::bytes(bytes, self)
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// Bytes with the charge for them.
pub(super) struct ChargedBytes {
    bytes: Bytes,
    _charge: MemoryCharge,
}

impl ChargedBytes {
    pub(super) fn bytes(bytes: Bytes, charge: MemoryCharge) -> Bytes {
        Bytes::from_owner(Self {
            bytes,
            _charge: charge,
        })
    }
}

impl AsRef<[u8]> for ChargedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

//! Bytes that are held for a while, and given back to the budget when they are dropped.

use bytes::Bytes;

use super::budget::{BudgetExhausted, MemoryBudget};

/// A part of the budget, given back when it is dropped.
#[derive(Debug)]
pub struct MemoryCharge {
    budget: MemoryBudget,
    bytes: usize,
}

impl MemoryBudget {
    /// Charges this many bytes, until the charge is dropped.
    pub fn take(&self, bytes: usize) -> Result<MemoryCharge, BudgetExhausted> {
        self.add_if_it_fits(bytes)?;
        Ok(MemoryCharge {
            budget: self.clone(),
            bytes,
        })
    }

    /// The same bytes, charged until the last clone and the last slice of them are gone.
    pub fn hold(&self, bytes: Bytes) -> Result<Bytes, BudgetExhausted> {
        let charge = self.take(bytes.len())?;
        Ok(ChargedBytes::bytes(bytes, charge))
    }
}

impl MemoryCharge {
    /// Charges more bytes. If they do not fit, the charge stays as it was.
    pub fn grow(&mut self, more: usize) -> Result<(), BudgetExhausted> {
        self.budget.add_if_it_fits(more)?;
        self.bytes += more;
        Ok(())
    }

    /// Gives back all but this many bytes. It never takes more.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(less @ 1..) = self.bytes.checked_sub(bytes) {
            self.budget.give_back(less);
            self.bytes = bytes;
        }
    }

    /// The size of the charge.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that give this charge back when the last clone and the last slice of them are gone.
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
struct ChargedBytes {
    bytes: Bytes,
    _charge: MemoryCharge,
}

impl ChargedBytes {
    fn bytes(bytes: Bytes, charge: MemoryCharge) -> Bytes {
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

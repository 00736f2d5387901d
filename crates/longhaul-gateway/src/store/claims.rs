//! Claims within one process, for stores that no other process uses.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::Claim;

/// The keys that are being worked on.
#[derive(Debug, Clone, Default)]
pub(super) struct LocalClaims(Arc<Mutex<BTreeSet<u64>>>);

struct LocalClaim {
    key: u64,
    claims: LocalClaims,
}

impl Claim for LocalClaim {}

impl LocalClaims {
    pub(super) fn claim(&self, key: u64) -> Option<Box<dyn Claim>> {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let claims = self.clone();
        keys.insert(key)
            .then(|| Box::new(LocalClaim { key, claims }) as Box<dyn Claim>)
    }
}

impl Drop for LocalClaim {
    fn drop(&mut self) {
        let keys = &self.claims.0;
        keys.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.key);
    }
}

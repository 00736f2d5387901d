//! The health of a store: whether it responds, and whether it can be written to.

use futures_util::future::BoxFuture;

use super::StoreError;

/// The health of a store. By default, a store counts as responding.
pub trait StoreHealth: Send + Sync + 'static {
    /// Whether the store recently failed to respond and is not asked for a while: no request should wait for it.
    fn is_backing_off(&self) -> bool {
        false
    }

    /// Writes a tiny record durably, to find out whether requesting a summary is worth its price.
    fn probe(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// How many summaries and notes of earlier versions were dropped when the store was opened, because they cannot be
    /// checked.
    fn dropped(&self) -> u64 {
        0
    }
}

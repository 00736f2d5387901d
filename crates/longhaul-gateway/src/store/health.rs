//! How a store is: whether it answers, and whether it can be written to.

use futures_util::future::BoxFuture;

use super::StoreError;

/// See the module. Where nothing is said, a store answers.
pub trait StoreHealth: Send + Sync + 'static {
    /// Whether it did not answer a moment ago, so that it is not asked for a while: nobody should wait for it.
    fn is_backing_off(&self) -> bool {
        false
    }

    /// Writes next to nothing, durably: whether something larger is worth its price.
    fn probe(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// How many summaries and notes of earlier versions were dropped when it was opened: they cannot be checked.
    fn dropped(&self) -> u64 {
        0
    }
}

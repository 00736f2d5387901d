//! How much memory the gateway takes: one budget for requests in flight and for caches.
//!
//! Code that holds bytes on behalf of a client takes a [`MemoryCharge`] for them and gives it back by dropping it. A
//! cache reports its size ([`MemoryShare`]) and can be asked to evict its oldest entries ([`Evictable`]). A request is
//! rejected only when nothing is left that could be evicted. The memory of the allocator and the runtime is not
//! counted.

mod budget;
mod charge;
mod share;

pub use budget::{BudgetExhausted, Evictable, MemoryBudget};
pub use charge::MemoryCharge;
pub use share::MemoryShare;

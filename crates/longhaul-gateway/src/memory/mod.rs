//! How much memory the gateway takes: one budget for what is under way and for what is kept.
//!
//! Whoever holds bytes on behalf of a client takes a [`Charge`] for them and gives it back by dropping it. Whoever keeps
//! something for later says how much that is ([`Kept`]) and can be asked to let go of the oldest ([`Evict`]). A request is
//! refused only when nothing is left that could be let go of. What the allocator and the runtime take is not counted.

mod budget;
mod charge;
mod share;

pub use budget::{BudgetExhausted, Evictable, MemoryBudget};
pub use charge::MemoryCharge;
pub use share::MemoryShare;

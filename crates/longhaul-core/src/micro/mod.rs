//! Micro-compaction: clearing old tool results without a model call (U).
//!
//! [`ToolResults`] follows the conversation and knows, oldest first, which results may be cleared. Each way to clear
//! has a file: after an idle hour (`idle.rs`), under pressure (`pressure.rs`), by cache edits while the cache is warm
//! (`cached.rs`), by the provider itself (`native.rs`); `choose.rs` takes the first that applies. `normalize/` defines
//! how a cleared result looks, and `boundary/` defines what is written to disk.

mod cached;
mod choose;
mod clearable;
mod idle;
mod limits;
pub mod native;
pub(crate) mod pressure;
mod results;
mod situation;

pub use cached::{CacheDeletions, CacheEditState};
pub use choose::choose;
pub use clearable::ClearableTools;
pub(crate) use idle::is_rested;
pub use limits::MicroLimits;
pub use results::{ClearableResult, MicroClearingReason, PlannedClearing, ToolResults};
pub use situation::{CacheState, MicroSituation, MicroStep, PressureOwner};

#[cfg(test)]
mod tests;

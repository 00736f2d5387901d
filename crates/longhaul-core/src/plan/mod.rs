//! Decides what to do before a request (O): compact, refuse, or continue.
//!
//! [`next`] judges one request; `CompactionTracking` remembers facts across turns; [`worth`](fn@worth) tells whether a
//! compaction is worth its price. Clearing comes first and is decided in `micro/`.

mod next;
mod tracking;
mod worth;

pub use next::{NextStep, PlanSituation, RequestRefusal, SummaryWay, next};
pub(crate) use tracking::BreakerChange;
pub(crate) use tracking::CompactionTracking;
pub use tracking::{Breaker, Recompaction};
pub use worth::least_freed;
pub use worth::{CompactionWorth, worth};

//! Decides what to do before a request (O): compact, refuse, or continue.
//!
//! [`next`] judges one request; `CompactionTracking` remembers facts across turns; [`worth`](fn@worth) tells whether a
//! compaction is worth its price. Clearing comes first and is decided in `micro/`.

mod breaker;
mod next;
mod tracking;
mod worth;

pub use breaker::Breaker;
pub(crate) use breaker::{BreakerChange, CircuitBreaker};
pub use next::{NextStep, PlanSituation, RequestRefusal, SummaryWay, next};
pub(crate) use tracking::CompactionTracking;
pub use tracking::Recompaction;
pub use worth::least_freed;
pub(crate) use worth::rest_after_failure;
pub use worth::{CompactionWorth, worth};

//! What to do before a request (O): compact, refuse, or go on.
//!
//! [`next`] judges one request; [`Tracking`] remembers across turns; [`worth`](fn@worth) says whether a compaction is worth its price. Clearing, which comes first, is chosen in `micro/`.

mod next;
mod tracking;
mod worth;

pub use next::{NextStep, PlanSituation, RequestRefusal, SummaryWay, next};
pub(crate) use tracking::BreakerChange;
pub(crate) use tracking::CompactionTracking;
pub use tracking::{Breaker, Recompaction};
pub use worth::least_freed;
pub use worth::{CompactionWorth, worth};

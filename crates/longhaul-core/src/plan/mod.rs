//! Decides what to do before a request (O): compact, refuse, or continue.
//!
//! [`next`] judges one request; `CompactionTracking` remembers facts across turns; [`worth`](fn@worth) tells whether a
//! compaction is worth its price; `by_price` has the conditions of decisions by price, and `verbatim` which of the newest
//! parts stay as they are. Clearing comes first and is decided in `micro/`.

mod breaker;
mod by_price;
mod next;
mod tracking;
mod verbatim;
mod worth;

pub use breaker::Breaker;
pub(crate) use breaker::{BreakerChange, CircuitBreaker};
pub(crate) use by_price::prefix_warmth;
pub use by_price::{may_clear_by_price, policy_in_effect};
pub use next::{NextStep, PlanSituation, RequestRefusal, SummaryWay, next};
pub(crate) use tracking::CompactionTracking;
pub use tracking::Recompaction;
pub use verbatim::{VerbatimTail, verbatim_tail};
pub use worth::least_freed;
pub(crate) use worth::rest_after_failure;
pub use worth::{CompactionWorth, worth};

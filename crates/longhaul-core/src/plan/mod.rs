//! What to do before a request (O): compact, refuse, or go on.
//!
//! [`next`] judges one request; [`Tracking`] remembers across turns. Clearing, which comes first, is chosen in `micro/`.

mod next;
mod tracking;

pub use next::{Next, Refusal, Situation, Way, next};
pub use tracking::{Breaker, Recompaction, Tracking, Tripped};

//! Results are made smaller before they are first sent (V8): what is in view already is not sent again, and of an
//! oversized result, if the user wants that, only its beginning, its end and its error lines are sent.
//!
//! Everything here is a pure function of texts; the engine and the gateway share it. `same.rs` is the pointer to an
//! identical result, `changed.rs` what changed since a file was read before (`numbered.rs` reads its lines), `excerpt.rs`
//! the parts of an oversized result, `choose.rs` the first of these that helps. `failed.rs` recognizes results of
//! calls that failed where the API does not say so. `room.rs` says how far new results are
//! shortened that together have no room in the window. [`crate::message::ReductionStanding`]
//! knows which results are sent as their originals again.

mod changed;
mod choose;
mod content;
mod excerpt;
mod failed;
mod numbered;
mod result_text;
mod room;
mod same;

pub use choose::{ReducedResult, ReductionCandidate, ReductionKind, reduce};
pub use content::{reduce_among, text_of_content};
pub use excerpt::shorten;
pub use failed::reports_failure;
pub use result_text::ResultText;
pub use room::cap_within;

#[cfg(test)]
mod tests;

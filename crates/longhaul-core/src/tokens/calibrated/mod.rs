//! Calibrated counting (X4): estimates that learn from what providers measure, each with a bound of its error.
//!
//! A linear model on the shape of a text ([`TextShape`]) says how many tokens a block of a class takes. Its coefficients
//! are fixed (`prior.rs`); one scale per session and tokenizer family is learned from the usage of replies (`scale.rs`).
//! [`CalibratedLedger`] does this for a whole conversation. docs/counting.md has the figures and says how to repeat them.
//!
//! Thresholds and everything that is compared with them keep the rough estimate (T2), which is padded and cannot drift.
//! This count is for prices, for display and for the expected size of a request.

pub mod blocks;
mod counter;
mod entry;
mod ledger;
mod prior;
mod scale;
mod shape;

pub use counter::{CalibratedCounter, CalibratedEstimate};
pub use entry::EntryTokens;
pub(crate) use entry::block_tokens;
pub(crate) use ledger::CountedReply;
pub use ledger::{CalibratedLedger, CalibratedSize};
pub use prior::{CalibratedClass, UnscaledTokens, unscaled};
pub use scale::LearnedScale;
pub use shape::{ShapeCount, TextShape};

//! Counting what is in the window (T).
//!
//! Provider measurements and our own estimates have different types; a context size consists of one of each. Thresholds
//! are in `window/`, prices in `models/`. Thresholds are compared with the rough estimate (T2); [`calibrated`] counts for
//! prices and display (X4).

pub mod calibrated;
pub(crate) mod cut;
mod estimate;
mod ledger;
mod likely;
mod units;

pub(crate) use estimate::utf16_len;
pub use estimate::{ContentClass, RoughEstimator};
pub use ledger::{EntryStanding, LedgerEntry, LedgerMeasurement, TokenLedger};
pub use likely::likely;
pub use units::{ContextSize, Estimate, MeasuredTokens};

//! What is in a transcript and what it costs: the computation behind `longhaul inspect`.
//!
//! [`Inspection`] takes a file line by line, keeps about a hundred bytes for each, and makes a [`Report`] of it. Where
//! the lines come from, and how the report is shown, is not decided here.

mod boundaries;
mod cache_breaks;
mod calls;
mod categories;
mod clearings;
mod earlier;
mod notes;
mod reading;
mod report;
mod rounds;

pub use reading::{Inspection, LineEnd};
pub use report::{
    BilledResponse, BoundaryReport, CacheBreak, CacheBreakTotals, Categories, ClearingReport,
    ClearingWay, DuplicateReads, EarlierConversation, InspectionReport, LargeResult, NotesReport,
    ReplacedPart, Sidechains, SummaryOriginReport, Thresholds, ToolReport, TurnReport, UsageReport,
    WindowReport,
};

//! The contents of a transcript and their cost: the computation for `longhaul inspect`.
//!
//! [`Inspection`] takes a file line by line, keeps about a hundred bytes for each, and makes an [`InspectionReport`] of
//! it. The caller supplies the lines and shows the report.

mod billed_beside;
mod boundaries;
mod cache_breaks;
mod calibrated;
mod calls;
mod categories;
mod clearings;
mod earlier;
mod economy;
mod reading;
mod report;
mod rounds;
mod shares;

pub use economy::EconomyReport;
pub use reading::{Inspection, LineEnd};
pub use report::{
    BilledResponse, BoundaryReport, CacheBreak, CacheBreakTotals, CalibratedReport, Categories,
    ClearingReport, ClearingWay, DuplicateReads, EarlierConversation, InspectionReport,
    LargeResult, LostRepliesReport, NotesReport, ReplacedPart, Sidechains, SummaryOriginReport,
    Thresholds, ToolReport, TurnReport, UsageReport, WindowReport,
};
pub use shares::WindowShares;

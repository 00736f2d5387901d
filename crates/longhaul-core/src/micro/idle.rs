//! Clearing after a long idle gap (U3): the cache is cold anyway, so clearing costs nothing now.

use jiff::Timestamp;

use super::{MicroClearingReason, MicroLimits, PlannedClearing, ToolResults};

/// Whether the last reply was long ago.
pub(crate) fn is_rested(
    limits: &MicroLimits,
    last_reply: Option<Timestamp>,
    now: Timestamp,
) -> bool {
    last_reply.is_some_and(|last| now.duration_since(last) > limits.idle())
}

/// Clears all but the newest results, if the last reply was long ago.
pub(super) fn clear(
    results: &ToolResults,
    limits: &MicroLimits,
    last_reply: Option<Timestamp>,
    now: Timestamp,
) -> Option<PlannedClearing> {
    let old = results.len().saturating_sub(limits.kept());
    (is_rested(limits, last_reply, now) && old > 0)
        .then(|| results.oldest(old, MicroClearingReason::Idle))
}

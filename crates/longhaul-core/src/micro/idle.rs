//! Clearing after a long rest (U3): the cache is cold anyway, so it costs nothing now.

use jiff::Timestamp;

use super::{MicroClearingReason, MicroLimits, PlannedClearing, ToolResults};

/// Whether the last reply is long ago.
pub fn is_rested(limits: &MicroLimits, last_reply: Option<Timestamp>, now: Timestamp) -> bool {
    last_reply.is_some_and(|last| now.duration_since(last) > limits.idle())
}

/// Clears all but the newest, if the last reply is long ago.
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

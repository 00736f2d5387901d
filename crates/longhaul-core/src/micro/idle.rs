//! Clearing after a long rest (U3): the cache is cold anyway, so it costs nothing now.

use jiff::{SignedDuration, Timestamp};

use super::{Clearing, Reason, ToolResults};

/// A rest longer than this.
pub(super) const REST: SignedDuration = SignedDuration::from_mins(60);
/// The newest results that stay.
const KEPT: usize = 5;

/// Whether the last reply is long ago.
pub fn is_rested(last_reply: Option<Timestamp>, now: Timestamp) -> bool {
    last_reply.is_some_and(|last| now.duration_since(last) > REST)
}

/// Clears all but the newest, if the last reply is long ago.
pub(super) fn clear(
    results: &ToolResults,
    last_reply: Option<Timestamp>,
    now: Timestamp,
) -> Option<Clearing> {
    let old = results.len().saturating_sub(KEPT);
    (is_rested(last_reply, now) && old > 0).then(|| results.oldest(old, Reason::Idle))
}

//! The pointer that is sent for a result that is in view already.

use crate::normalize::fragment::fill;
use crate::quoting::inline;

const SAME: &str = include_str!("fragments/same.txt");

/// Returns the text that points to the result of an earlier call.
pub(super) fn pointer(base: &str) -> String {
    fill(SAME, &[("base", &inline(base))])
}

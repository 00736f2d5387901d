//! SWE-agent trajectories: one JSON document with a list of actions and observations.

use super::{DetectedFormat, FileStart, foreign};

pub(super) fn recognize(head: &FileStart<'_>) -> Option<DetectedFormat> {
    head.opens_with_and_holds(b'{', "\"trajectory\":")
        .then(|| foreign("a SWE-agent trajectory"))
        .flatten()
}

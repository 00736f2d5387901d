//! tau-bench runs: one JSON array of tasks with their conversations.

use super::{DetectedFormat, FileStart, foreign};

pub(super) fn recognize(head: &FileStart<'_>) -> Option<DetectedFormat> {
    (head.opens_with_and_holds(b'[', "\"task_id\":")
        && head.opens_with_and_holds(b'[', "\"traj\":"))
    .then(|| foreign("a tau-bench run"))
    .flatten()
}

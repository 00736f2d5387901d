//! goose's recordings: one JSON document keyed by request hash.

use super::{DetectedFormat, FileStart, foreign};

pub(super) fn recognize(head: &FileStart<'_>) -> Option<DetectedFormat> {
    (head.opens_with_and_holds(b'{', "\"input\":")
        && head.opens_with_and_holds(b'{', "called goose"))
    .then(|| foreign("a goose recording"))
    .flatten()
}

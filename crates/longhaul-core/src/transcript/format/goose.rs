//! goose's recordings: one JSON document keyed by request hash.

use super::{Head, Verdict, foreign};

pub(super) fn recognise(head: &Head<'_>) -> Option<Verdict> {
    (head.opens_with_and_holds(b'{', "\"input\":")
        && head.opens_with_and_holds(b'{', "called goose"))
    .then(|| foreign("a goose recording"))
    .flatten()
}

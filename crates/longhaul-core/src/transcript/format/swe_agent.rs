//! SWE-agent trajectories: one JSON document with a list of actions and observations.

use super::{Head, Verdict, foreign};

pub(super) fn recognise(head: &Head<'_>) -> Option<Verdict> {
    head.opens_with_and_holds(b'{', "\"trajectory\":")
        .then(|| foreign("a SWE-agent trajectory"))
        .flatten()
}

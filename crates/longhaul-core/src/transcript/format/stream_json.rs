//! The event stream that agents print for programs (`--output-format stream-json`): not the transcript itself.

use super::{Foreign, Head, Verdict};

pub(super) fn recognise(head: &Head<'_>) -> Option<Verdict> {
    let is_event = head
        .objects()
        .any(|event| event.get("session_id").is_some() && event.string("type").is_some());
    is_event.then_some(Verdict::Foreign(Foreign {
        what: "the printed event stream of an agent (stream-json), not its transcript",
        advice: "Inspect the session's transcript instead: give its session id, or its file under ~/.claude/projects.",
    }))
}

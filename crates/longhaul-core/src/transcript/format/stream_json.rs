//! The event stream that agents print for programs (`--output-format stream-json`): not the transcript itself.

use super::{DetectedFormat, FileStart, ForeignFormat};

pub(super) fn recognize(head: &FileStart<'_>) -> Option<DetectedFormat> {
    let is_event = head
        .objects()
        .any(|event| event.get("session_id").is_some() && event.string("type").is_some());
    is_event.then_some(DetectedFormat::Foreign(ForeignFormat {
        what: "the printed event stream of an agent (stream-json), not its transcript",
        advice: "Inspect the session's transcript instead: give its session id, or its file under ~/.claude/projects.",
    }))
}

//! OpenHands' recorded completions: one JSON document with the request's messages.

use super::{DetectedFormat, FileStart, foreign};

pub(super) fn recognize(head: &FileStart<'_>) -> Option<DetectedFormat> {
    let request =
        head.bytes.starts_with(b"{\"messages\":") || head.bytes.starts_with(b"{\n  \"messages\":");
    let openhands = head.opens_with_and_holds(b'{', "OpenHands");
    match (request, openhands) {
        (true, true) => foreign("a recorded OpenHands completion"),
        (true, false) => foreign("a recorded API request, not a transcript"),
        _ => None,
    }
}

//! aider's chat history: Markdown.

use super::{DetectedFormat, FileStart, foreign};

pub(super) fn recognize(head: &FileStart<'_>) -> Option<DetectedFormat> {
    let text = head.bytes.first().is_some_and(|byte| !b"{[".contains(byte));
    (text && memchr::memmem::find(head.bytes, b"# aider chat started at").is_some())
        .then(|| foreign("an aider chat history"))
        .flatten()
}

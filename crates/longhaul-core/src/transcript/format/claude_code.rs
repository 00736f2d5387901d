//! The transcripts of Claude Code and Longhaul: JSONL, one entry per line.

use super::{DetectedFormat, FileStart};
use crate::json::ObjectReader;

/// Types of entries without uuid or session that a file may consist of at first.
const BARE_TYPES: [&str; 3] = ["summary", "file-history-snapshot", "queue-operation"];

pub(super) fn recognize(head: &FileStart<'_>) -> Option<DetectedFormat> {
    head.objects()
        .any(is_entry)
        .then_some(DetectedFormat::Transcript)
}

/// Whether an object is an entry: it has a type, and also an identity, a session, or a type that needs neither.
fn is_entry(object: ObjectReader<'_>) -> bool {
    object.string("type").is_some_and(|name| {
        let identified = object.get("uuid").is_some() && object.get("parentUuid").is_some();
        identified || object.get("sessionId").is_some() || BARE_TYPES.contains(&&*name)
    })
}

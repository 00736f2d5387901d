//! Writes an entry again under new ids; everything else stays byte for byte.

use bytes::Bytes;

use super::line::LineError;
use crate::json::{self, ObjectReader};

/// How a copy begins.
const COPY: &[u8] = br#"{"copiedFrom":"#;

/// Whether a line is a copy.
pub(crate) fn is_copy(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(COPY)
}

/// The new ids of a copy.
pub(super) struct CopyIds<'a> {
    pub(super) uuid: &'a str,
    pub(super) parent: &'a str,
    /// Appended to the message id, so that a copy is not mistaken for another line of the response that it copies.
    pub(super) message_suffix: &'a str,
}

/// Copies a line that has been scanned. The copy leaves out the usage: it measured another request, which has been paid
/// for.
pub(super) fn copied(line: &[u8], ids: &CopyIds<'_>) -> Result<Bytes, LineError> {
    let entry = ObjectReader::new(line);
    let place = |raw: Option<&[u8]>, name| {
        raw.and_then(|raw| json::place(line, raw))
            .ok_or(LineError::Missing(name))
    };
    let quoted = |text: &str| serde_json::to_vec(text);
    let original = entry.get("uuid").unwrap_or_default();
    let mut edits = vec![(place(Some(original), "uuid")?, quoted(ids.uuid)?)];
    let parent = entry.get("parentUuid");
    if let Some(parent) = parent {
        edits.push((place(Some(parent), "parentUuid")?, quoted(ids.parent)?));
    }
    if let Some(message) = entry.object("message") {
        if let Some(id) = message.string("id") {
            let id = format!("{id}{}", ids.message_suffix);
            edits.push((place(message.get("id"), "message id")?, quoted(&id)?));
        }
        if let Some(usage) = message.get("usage") {
            edits.push((place(Some(usage), "usage")?, b"null".to_vec()));
        }
    }
    edits.sort_by_key(|(place, _)| place.start);
    let mut copy = Vec::with_capacity(line.len() + 120);
    let opening = line.iter().position(|byte| *byte == b'{').unwrap_or(0) + 1;
    copy.extend_from_slice(COPY);
    copy.extend_from_slice(original);
    copy.push(b',');
    if parent.is_none() {
        copy.extend_from_slice(br#""parentUuid":"#);
        copy.extend_from_slice(&quoted(ids.parent)?);
        copy.push(b',');
    }
    let mut done = opening;
    for (place, text) in edits {
        copy.extend_from_slice(line.get(done..place.start).unwrap_or_default());
        copy.extend_from_slice(&text);
        done = place.end;
    }
    copy.extend_from_slice(line.get(done..).unwrap_or_default());
    Ok(copy.into())
}

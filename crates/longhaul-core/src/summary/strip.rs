//! Strips an entry for a plain request for a summary (F3): pictures and documents, which a summarizer cannot quote, and
//! lists of skills, which are announced again anyway.
//!
//! This is only for that request. A fork repeats its parent's bytes unchanged, because a cache hit is worth more.

use bytes::Bytes;

use crate::json::{self, ObjectReader};
use crate::message::{BlockKind, EntryKind, EntryView};

/// The text block that replaces a picture.
pub const IMAGE: &str = "[image]";
/// The text block that replaces a document.
pub const DOCUMENT: &str = "[document]";

/// Attachments that are added to the conversation again after a compaction.
const REPEATED_ATTACHMENTS: [&str; 2] = ["skill_discovery", "skill_listing"];

/// The result of stripping an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrippedEntry {
    /// The entry is sent unchanged.
    AsIs,
    /// The entry is sent in this form: the same line with a text block in place of each picture and document, also
    /// inside results.
    Rewritten(Bytes),
    /// The entry is not sent.
    Dropped,
}

/// Strips an entry. The line is cut and joined, never parsed into a tree, so everything else in it stays unchanged.
pub fn strip(entry: EntryView<'_>) -> StrippedEntry {
    if entry.facets.kind == EntryKind::Attachment {
        return attachment(entry);
    }
    let media = entry.facets.blocks.iter().filter_map(|block| {
        let marker = media_marker(block.kind)?;
        Some((block.span.start()..block.span.end(), marker))
    });
    with_text_blocks(entry.line, media)
}

fn media_marker(kind: BlockKind) -> Option<&'static str> {
    match kind {
        BlockKind::Image => Some(IMAGE),
        BlockKind::Document => Some(DOCUMENT),
        _ => None,
    }
}

/// Drops a list of skills. A file that is a picture or document keeps its name and loses its content.
fn attachment(entry: EntryView<'_>) -> StrippedEntry {
    let value = entry.object(entry.facets.attachment);
    let kind = value.string("type").unwrap_or_default();
    if REPEATED_ATTACHMENTS.contains(&&*kind) {
        return StrippedEntry::Dropped;
    }
    let content = value.get("content").filter(|raw| raw.starts_with(b"{"));
    let media = content.and_then(|raw| {
        let marker = match &*ObjectReader::new(raw).string("type")? {
            "image" => IMAGE,
            "document" | "pdf" => DOCUMENT,
            _ => return None,
        };
        Some((json::place(entry.line, raw)?, marker))
    });
    with_text_blocks(entry.line, media.into_iter())
}

/// Returns the line with text blocks in place of these parts, which are in order.
fn with_text_blocks(
    line: &[u8],
    parts: impl Iterator<Item = (std::ops::Range<usize>, &'static str)>,
) -> StrippedEntry {
    let mut stripped = Vec::new();
    let mut done = 0;
    for (part, marker) in parts {
        stripped.extend_from_slice(line.get(done..part.start).unwrap_or_default());
        stripped.extend_from_slice(br#"{"type":"text","text":""#);
        stripped.extend_from_slice(marker.as_bytes());
        stripped.extend_from_slice(br#""}"#);
        done = part.end;
    }
    if done == 0 {
        return StrippedEntry::AsIs;
    }
    stripped.extend_from_slice(line.get(done..).unwrap_or_default());
    StrippedEntry::Rewritten(stripped.into())
}

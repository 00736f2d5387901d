//! Quotes the beginning of a message, so that a summarizer can find it again (F5).

use crate::json::{self, ObjectReader};
use crate::message::{BlockKind, EntryView};

/// The number of characters that are quoted.
const LENGTH: usize = 300;

/// Returns the opening words of an entry: of its text, or else of a result, or else of a call. Empty if it has none of
/// these.
pub fn opening_words(entry: EntryView<'_>) -> String {
    let blocks = || entry.facets.blocks.iter().filter(|block| !block.blank);
    let text = blocks()
        .filter(|block| block.kind == BlockKind::Text)
        .find_map(|block| json::text(block.body.of(entry.line)));
    let result = || {
        blocks()
            .filter(|block| block.kind == BlockKind::ToolResult)
            .find_map(|block| json::text(block.body.of(entry.line)))
    };
    let call = || {
        let call = blocks().find(|block| block.kind == BlockKind::ToolUse)?;
        let input = String::from_utf8_lossy(call.body.of(entry.line));
        Some(format!("{} {input}", entry.text(call.name)).into())
    };
    let attachment = || {
        let attachment = ObjectReader::new(entry.facets.attachment.of(entry.line));
        attachment.string("content")
    };
    let words = text.or_else(result).or_else(call).or_else(attachment);
    words.map_or_else(String::new, |words| beginning(words.trim()))
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{} …", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

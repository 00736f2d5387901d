//! The texts of an entry that stays in view: what an audit need not add again.

use crate::json;
use crate::message::{BlockKind, EntryView};

/// What the model reads in an entry: its texts, the inputs of its calls, its attachment. Results are left out: a word in a
/// file that was read is not the user's.
pub fn visible_texts(entry: EntryView<'_>) -> Vec<String> {
    let blocks = entry.facets.blocks.iter().filter(|block| !block.inner);
    let mut texts: Vec<String> = blocks
        .filter(|block| matches!(block.kind, BlockKind::Text | BlockKind::ToolUse))
        .map(|block| read(block.body.of(entry.line)))
        .collect();
    if entry.facets.attachment.is_present() {
        texts.push(read(entry.facets.attachment.of(entry.line)));
    }
    texts
}

/// A JSON value as it reads with its escapes resolved.
fn read(value: &[u8]) -> String {
    let content = json::content(value).unwrap_or(value);
    json::decode(content).into_owned()
}

//! The texts of an entry that stays in view, which an audit need not add again.

use crate::json;
use crate::message::{BlockKind, EntryView};

/// The text that the model reads in an entry: its texts, the inputs of its calls, its attachment. Results are left out:
/// words in a file that was read are not the user's.
pub fn visible_texts(entry: EntryView<'_>) -> Vec<String> {
    let blocks = entry.facets.blocks.iter().filter(|block| !block.inner);
    let mut texts: Vec<String> = blocks
        .filter(|block| matches!(block.kind, BlockKind::Text | BlockKind::ToolUse))
        .map(|block| json::text_of(block.body.of(entry.line)).into_owned())
        .collect();
    if entry.facets.attachment.is_present() {
        texts.push(json::text_of(entry.facets.attachment.of(entry.line)).into_owned());
    }
    texts
}

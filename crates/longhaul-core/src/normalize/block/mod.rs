//! Renders one content block of an entry in a form that the API accepts. A block of the transcript is copied if it can
//! be sent unchanged. Otherwise it is repaired, or becomes text if it cannot be repaired, so that nothing is lost.

mod call;
mod content;
mod inner;
mod kinds;
mod picture;
mod result;
mod shape;
mod shape_mismatch;
mod sound;
mod source;
mod text;
mod thinking_delivery;

use self::source::BlockSource;
use super::MessageRole;
use super::images::ImageCounter;
use super::options::RenderRules;
use super::piece::{BlockPart, BlockPiece};
use crate::message::{BlockKind, EntryView};

pub(super) use self::call::calls;
pub(super) use self::picture::of_base64 as picture;
pub(super) use self::result::{answers, late_result, result, unanswered};
pub(super) use self::text::{become_text, placeholder};
pub(super) use self::thinking_delivery::ThinkingDelivery;

/// Whether a block of the model may be the first block of a conversation.
pub(super) fn may_open(piece: &BlockPiece) -> bool {
    piece.part == BlockPart::SignedSummary
}

/// Renders the blocks of a line of a response.
pub(super) fn response_blocks(
    view: EntryView<'_>,
    rules: &RenderRules,
    thinking: ThinkingDelivery,
) -> Vec<BlockPiece> {
    let blocks = &view.facets.blocks;
    let outer = blocks.iter().enumerate().filter(|(_, block)| !block.inner);
    outer
        .filter_map(|(index, block)| {
            let source = BlockSource { view, index, block };
            match block.kind {
                BlockKind::Text => source.text(content::SAID_TEXT),
                // A block of another type whose own text is blank has nothing to show.
                _ if block.blank => None,
                BlockKind::Thinking => source.thinking(content::THINKING, thinking),
                BlockKind::RedactedThinking => {
                    source.thinking(content::REDACTED_THINKING, thinking)
                }
                BlockKind::ToolUse => Some(call::call(source)),
                _ => Some(source.by_table(MessageRole::Assistant, rules, None)),
            }
        })
        .collect()
}

/// Returns how many blocks of a line are reasoning.
pub(super) fn thoughts(view: EntryView<'_>) -> u32 {
    let blocks = view.facets.blocks.iter();
    blocks
        .filter(|block| !block.inner && block.kind.is_thinking())
        .count() as u32
}

/// Renders a block from the user's side that is not a result.
pub(super) fn input(
    view: EntryView<'_>,
    index: usize,
    rules: &RenderRules,
    images: &mut ImageCounter,
) -> BlockPiece {
    let block = &view.facets.blocks[index];
    let source = BlockSource { view, index, block };
    let text = match block.kind {
        BlockKind::Text => source.text(content::USER_TEXT),
        _ => None,
    };
    text.unwrap_or_else(|| source.by_table(MessageRole::User, rules, Some(images)))
}

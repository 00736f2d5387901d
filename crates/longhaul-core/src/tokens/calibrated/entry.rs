//! Counts a transcript entry with the fixed model, block by block.

use super::blocks::{self, decoded_shape, literal_shape};
use super::prior::unframed;
use super::{CalibratedClass, TextShape, UnscaledTokens, unscaled};
use crate::message::{BlockKind, EntryBlock, EntryView, Id, Sent};

/// What an entry takes in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryTokens {
    /// Everything except for what can be cleared.
    pub weight: UnscaledTokens,
    /// The part of this that a model wrote for others to read: texts and calls.
    pub visible: UnscaledTokens,
    /// What can be cleared: results by their calls, attachments by their uuids.
    pub clearable: Vec<(Id, UnscaledTokens)>,
}

impl EntryTokens {
    /// Counts an entry. One that is not sent takes nothing.
    pub fn of(entry: EntryView<'_>) -> Self {
        Self::each(entry, |_, _| {})
    }

    /// Counts an entry and shows each of its parts: its blocks by their places, or the attachment that it is. No text is
    /// visited twice.
    pub(crate) fn each(
        entry: EntryView<'_>,
        mut visit: impl FnMut(Option<usize>, UnscaledTokens),
    ) -> Self {
        let mut tokens = Self::default();
        let Some(sent) = entry.sent() else {
            return tokens;
        };
        if sent == Sent::Attachment {
            let own = unscaled(
                CalibratedClass::Text,
                &decoded_shape(entry.facets.attachment.of(entry.line)),
            );
            visit(None, own);
            tokens.add(entry.uuid(), own);
        }
        let reductions = entry.reductions();
        let blocks = &entry.facets.blocks;
        for (at, block) in blocks.iter().enumerate().filter(|(_, block)| !block.inner) {
            let id = entry.block_id(block);
            let reduced = reductions.iter().find(|one| Some(one.call) == id);
            let own = match reduced.filter(|_| block.kind == BlockKind::ToolResult) {
                Some(reduced) => {
                    let text = crate::json::decode(reduced.literal);
                    unscaled(CalibratedClass::ToolResult, &TextShape::of(&text))
                }
                None => block_tokens(entry, block, &blocks[at + 1..]),
            };
            visit(Some(at), own);
            if sent == Sent::Reply && block.kind.is_visible_output() {
                tokens.visible += own;
            }
            let is_call = matches!(block.kind, BlockKind::ToolUse | BlockKind::ToolResult);
            tokens.add(id.filter(|_| is_call && sent != Sent::Reply), own);
        }
        tokens
    }

    /// The whole entry.
    pub fn total(&self) -> UnscaledTokens {
        let clearable = self.clearable.iter().map(|(_, tokens)| *tokens);
        self.weight + clearable.sum()
    }

    fn add(&mut self, id: Option<Id>, tokens: UnscaledTokens) {
        match id {
            Some(id) => self.clearable.push((id, tokens)),
            None => self.weight += tokens,
        }
    }
}

/// Counts a block and, for a result, the blocks inside it, which follow it in `rest`.
pub(crate) fn block_tokens(
    entry: EntryView<'_>,
    block: &EntryBlock,
    rest: &[EntryBlock],
) -> UnscaledTokens {
    let body = block.body.of(entry.line);
    match block.kind {
        BlockKind::Text => unscaled(CalibratedClass::Text, &literal_shape(body)),
        BlockKind::Image => UnscaledTokens::IMAGE,
        BlockKind::Document => UnscaledTokens::DOCUMENT,
        BlockKind::ToolUse => {
            let name = TextShape::of(&entry.text(block.name));
            unscaled(CalibratedClass::ToolCall, &(name + decoded_shape(body)))
        }
        BlockKind::ToolResult if block.has_inner => {
            let inner = rest.iter().take_while(|inner| inner.inner);
            let frame = unscaled(CalibratedClass::ToolResult, &TextShape::default());
            frame + inner.map(|inner| inner_tokens(entry, inner)).sum()
        }
        BlockKind::ToolResult => unscaled(CalibratedClass::ToolResult, &literal_shape(body)),
        BlockKind::Thinking => blocks::thinking(entry.object(block.span)),
        BlockKind::RedactedThinking => {
            let data = entry.object(block.span).string("data");
            blocks::signature(&data.unwrap_or_default())
        }
        BlockKind::Other => unscaled(
            CalibratedClass::Text,
            &decoded_shape(block.span.of(entry.line)),
        ),
    }
}

/// The tokens of a block inside a tool result.
fn inner_tokens(entry: EntryView<'_>, block: &EntryBlock) -> UnscaledTokens {
    match block.kind {
        BlockKind::Text => {
            let shape = literal_shape(block.body.of(entry.line));
            unframed(CalibratedClass::ToolResult, &shape)
        }
        // The blocks of a result inside a result are in the same run.
        BlockKind::ToolResult if block.has_inner => UnscaledTokens::ZERO,
        _ => block_tokens(entry, block, &[]),
    }
}

//! Counts a transcript entry with the fixed model, block by block.

use std::borrow::Cow;

use super::prior::unframed;
use super::{CalibratedClass, TextShape, UnscaledTokens, unscaled};
use crate::json;
use crate::message::{BlockKind, EntryBlock, EntryView, Id, Sent};

/// The shortest signature that can stand for thinking. Recordings may have a placeholder instead; then the text counts.
const SHORTEST_SIGNATURE: usize = 100;

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
        let mut tokens = Self::default();
        let Some(sent) = entry.sent() else {
            return tokens;
        };
        if sent == Sent::Attachment {
            let own = unscaled(
                CalibratedClass::Text,
                &raw_shape(entry.facets.attachment.of(entry.line)),
            );
            tokens.add(entry.uuid(), own);
        }
        let blocks = &entry.facets.blocks;
        for (at, block) in blocks.iter().enumerate().filter(|(_, block)| !block.inner) {
            let own = block_tokens(entry, block, &blocks[at + 1..]);
            if sent == Sent::Reply && block.kind.is_visible_output() {
                tokens.visible += own;
            }
            let is_call = matches!(block.kind, BlockKind::ToolUse | BlockKind::ToolResult);
            let id = entry.block_id(block);
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
            unscaled(CalibratedClass::ToolCall, &(name + raw_shape(body)))
        }
        BlockKind::ToolResult if block.has_inner => {
            let inner = rest.iter().take_while(|inner| inner.inner);
            let frame = unscaled(CalibratedClass::ToolResult, &TextShape::default());
            frame + inner.map(|inner| inner_tokens(entry, inner)).sum()
        }
        BlockKind::ToolResult => unscaled(CalibratedClass::ToolResult, &literal_shape(body)),
        BlockKind::Thinking => thinking_tokens(entry, block),
        BlockKind::RedactedThinking => {
            let data = entry.object(block.span).string("data");
            signature_tokens(&data.unwrap_or_default())
        }
        BlockKind::Other => unscaled(CalibratedClass::Text, &raw_shape(block.span.of(entry.line))),
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

fn thinking_tokens(entry: EntryView<'_>, block: &EntryBlock) -> UnscaledTokens {
    let object = entry.object(block.span);
    let signature = object.string("signature").unwrap_or_default();
    if signature.len() >= SHORTEST_SIGNATURE {
        return signature_tokens(&signature);
    }
    let text = object.string("thinking").unwrap_or_default();
    unscaled(CalibratedClass::Text, &TextShape::of(&text))
}

fn signature_tokens(signature: &str) -> UnscaledTokens {
    unscaled(CalibratedClass::Signature, &TextShape::of(signature))
}

/// The shape of a string literal's text, or of any other value as it is written.
fn literal_shape(raw: &[u8]) -> TextShape {
    match json::text(raw) {
        Some(text) => TextShape::of(&text),
        None => raw_shape(raw),
    }
}

/// The shape of JSON whose escapes are decoded: models read and write the characters, not the escapes.
fn raw_shape(raw: &[u8]) -> TextShape {
    let text: Cow<'_, str> = json::decode(raw);
    TextShape::of(&text)
}

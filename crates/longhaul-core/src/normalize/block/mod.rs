//! Renders one content block of an entry in a form that the API accepts. A block of the transcript is copied if it can
//! be sent unchanged. Otherwise it is repaired, or becomes text if it cannot be repaired, so that nothing is lost.

mod call;
mod content;
mod inner;
mod kinds;
mod picture;
mod result;
mod shape;
mod sound;
mod text;

use std::borrow::Cow;

use self::kinds::{BlockBond, BlockTypeSpec};
use self::shape::{ShapeMismatch, fit, record};
use super::images::ImageCounter;
use super::options::RenderRules;
use super::piece::{BlockPart, BlockPiece, ServerAnswerer};
use super::{BlockOrigin, MessageRole};
use crate::json::ObjectReader;
use crate::message::{BlockKind, EntryBlock, EntryView, Id};
use crate::tokens::RoughEstimator;

pub(super) use self::call::calls;
pub(super) use self::picture::of_base64 as picture;
pub(super) use self::result::{answers, late_result, result, unanswered};
pub(super) use self::text::{become_text, placeholder};

/// Whether reasoning is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingDelivery {
    /// Reasoning is sent.
    Sent,
    /// Reasoning is left out: the content before it was changed, so the API would refuse it (N2).
    Stripped,
}

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

/// A block within its entry.
#[derive(Clone, Copy)]
struct BlockSource<'a> {
    view: EntryView<'a>,
    index: usize,
    block: &'a EntryBlock,
}

impl<'a> BlockSource<'a> {
    fn raw(self) -> &'a [u8] {
        self.block.span.of(self.view.line)
    }

    fn object(self) -> ObjectReader<'a> {
        ObjectReader::new(self.raw())
    }

    fn piece(self, json: impl Into<Vec<u8>>, part: BlockPart) -> BlockPiece {
        let rest = self.view.facets.blocks.get(self.index + 1..);
        BlockPiece {
            json: json.into(),
            kind: self.block.kind,
            markable: !matches!(part, BlockPart::Thinking | BlockPart::Blank),
            part,
            entry: self.view.uuid(),
            origin: if self.view.facets.flags.compact_summary {
                BlockOrigin::Summary
            } else {
                BlockOrigin::Said
            },
            weight: RoughEstimator.block(self.block, rest.unwrap_or_default()),
        }
    }

    /// Renders text. Returns `None` if it is empty.
    fn text(self, fields: &'static [shape::BlockFieldSpec]) -> Option<BlockPiece> {
        let raw = self.raw();
        let json = match raw.first() {
            // A plain string represents a block.
            Some(b'"') => fit(raw, &shape::FieldShape::Text).map(|text| {
                let json = [br#"{"type":"text","text":"#, &*text, b"}"].concat();
                Cow::Owned(json)
            }),
            _ => record(raw, fields, |field, value| fit(value, field.shape)),
        };
        let part = if self.block.blank {
            BlockPart::Blank
        } else {
            BlockPart::Plain
        };
        match json {
            Ok(_) if self.block.blank && self.block.units == 0 => None,
            Ok(json) => Some(self.piece(json, part)),
            Err(ShapeMismatch) => Some(self.wrapped()),
        }
    }

    fn thinking(
        self,
        fields: &'static [shape::BlockFieldSpec],
        thinking: ThinkingDelivery,
    ) -> Option<BlockPiece> {
        if thinking == ThinkingDelivery::Stripped {
            return None;
        }
        let json = record(self.raw(), fields, |field, value| fit(value, field.shape));
        json.ok().map(|json| self.piece(json, BlockPart::Thinking))
    }

    /// Renders a block whose type is in the table, or else its JSON as text.
    fn by_table(
        self,
        role: MessageRole,
        rules: &RenderRules,
        images: Option<&mut ImageCounter>,
    ) -> BlockPiece {
        let raw = self.raw();
        if let Some(piece) = self.bare_string() {
            return piece;
        }
        let name = match raw.first() {
            Some(b'{') => self.object().string("type"),
            _ => None,
        };
        let kind = name.and_then(|name| kinds::find(&name));
        let kind = kind.filter(|kind| kind.roles.contains(&role) && rules.takes(kind.betas));
        match (kind, images) {
            (Some(kind), Some(images)) if kind.name == "image" => {
                let json = picture::judged(raw, images);
                self.media(json, kind)
            }
            (Some(kind), _) => {
                let json = record(raw, kind.fields, |field, value| fit(value, field.shape));
                match json {
                    Ok(json) => self.bonded(json, kind, rules),
                    Err(ShapeMismatch) => self.wrapped(),
                }
            }
            (None, _) => self.wrapped(),
        }
    }

    fn media(self, json: Result<Cow<'a, [u8]>, ShapeMismatch>, kind: &BlockTypeSpec) -> BlockPiece {
        match json {
            // A picture that was left out is text.
            Ok(json) if json.starts_with(picture::LEFT_OUT) => BlockPiece {
                kind: BlockKind::Text,
                markable: kind.markable,
                origin: BlockOrigin::LeftOut,
                ..self.piece(json, BlockPart::Plain)
            },
            Ok(json) => BlockPiece {
                markable: kind.markable,
                ..self.piece(json, BlockPart::Plain)
            },
            Err(ShapeMismatch) => self.wrapped(),
        }
    }

    fn bonded(self, json: Cow<'a, [u8]>, kind: &BlockTypeSpec, rules: &RenderRules) -> BlockPiece {
        let id = |name: &str| {
            let id = self.object().string(name).unwrap_or_default();
            Id::of(&id)
        };
        let part = match kind.bond {
            BlockBond::None => BlockPart::Plain,
            BlockBond::ServerCall => BlockPart::ServerCall(id("id"), ServerAnswerer::Tool),
            BlockBond::ServerResult => {
                BlockPart::ServerResult(id("tool_use_id"), ServerAnswerer::Tool)
            }
            BlockBond::McpCall => BlockPart::ServerCall(id("id"), ServerAnswerer::Mcp),
            BlockBond::McpResult => BlockPart::ServerResult(id("tool_use_id"), ServerAnswerer::Mcp),
            BlockBond::Summary if self.object().string("signature").is_none() => BlockPart::Plain,
            BlockBond::Summary if rules.takes(&[kinds::ON_DEMAND]) => BlockPart::SignedSummary,
            BlockBond::Summary => return self.wrapped(),
        };
        BlockPiece {
            markable: kind.markable,
            ..self.piece(json, part)
        }
    }

    /// Renders a string among blocks.
    fn bare_string(self) -> Option<BlockPiece> {
        let text = fit(self.raw(), &shape::FieldShape::Filled).ok()?;
        let json = [br#"{"type":"text","text":"#, &*text, b"}"].concat();
        Some(BlockPiece {
            kind: BlockKind::Text,
            ..self.piece(json, BlockPart::Plain)
        })
    }

    /// Renders a text block that carries the block's JSON.
    fn wrapped(self) -> BlockPiece {
        BlockPiece::text(
            &text::wrapped(self.raw()),
            self.view.uuid(),
            BlockOrigin::Wrapped,
        )
    }
}

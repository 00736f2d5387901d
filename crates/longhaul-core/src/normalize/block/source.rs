//! A block within its entry, and the pieces that it becomes: text, reasoning, or what the table of kinds says.

use std::borrow::Cow;

use super::kinds::{self, BlockBond, BlockTypeSpec};
use super::shape::{self, fit, record};
use super::shape_mismatch::ShapeMismatch;
use super::thinking_delivery::ThinkingDelivery;
use super::{picture, text};
use crate::json::ObjectReader;
use crate::message::{BlockKind, EntryBlock, EntryView, Id};
use crate::normalize::images::ImageCounter;
use crate::normalize::options::RenderRules;
use crate::normalize::piece::{BlockPart, BlockPiece, ServerAnswerer};
use crate::normalize::{BlockOrigin, MessageRole};
use crate::tokens::RoughEstimator;

/// A block within its entry.
#[derive(Clone, Copy)]
pub(super) struct BlockSource<'a> {
    pub(super) view: EntryView<'a>,
    pub(super) index: usize,
    pub(super) block: &'a EntryBlock,
}

impl<'a> BlockSource<'a> {
    pub(super) fn raw(self) -> &'a [u8] {
        self.block.span.of(self.view.line)
    }

    pub(super) fn object(self) -> ObjectReader<'a> {
        ObjectReader::new(self.raw())
    }

    pub(super) fn piece(self, json: impl Into<Vec<u8>>, part: BlockPart) -> BlockPiece {
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
    pub(super) fn text(self, fields: &'static [shape::BlockFieldSpec]) -> Option<BlockPiece> {
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

    pub(super) fn thinking(
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
    pub(super) fn by_table(
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

    pub(super) fn media(
        self,
        json: Result<Cow<'a, [u8]>, ShapeMismatch>,
        kind: &BlockTypeSpec,
    ) -> BlockPiece {
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

    pub(super) fn bonded(
        self,
        json: Cow<'a, [u8]>,
        kind: &BlockTypeSpec,
        rules: &RenderRules,
    ) -> BlockPiece {
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
    pub(super) fn bare_string(self) -> Option<BlockPiece> {
        let text = fit(self.raw(), &shape::FieldShape::Filled).ok()?;
        let json = [br#"{"type":"text","text":"#, &*text, b"}"].concat();
        Some(BlockPiece {
            kind: BlockKind::Text,
            ..self.piece(json, BlockPart::Plain)
        })
    }

    /// Renders a text block that carries the block's JSON.
    pub(super) fn wrapped(self) -> BlockPiece {
        BlockPiece::text(
            &text::wrapped(self.raw()),
            self.view.uuid(),
            BlockOrigin::Wrapped,
        )
    }
}

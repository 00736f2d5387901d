//! One content block of an entry, as the API takes it. What stands in the transcript is copied where it can be sent as
//! it is; the rest is repaired, and what cannot be repaired becomes text, so that nothing is lost.

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

use self::kinds::{Bond, Kind};
use self::shape::{Misfit, fit, record};
use super::images::Images;
use super::options::Rules;
use super::piece::{Part, Piece, Server};
use super::{Origin, Role};
use crate::json::Object;
use crate::message::{Block, BlockKind, Id, View};
use crate::tokens::{Estimator, Rough};

pub(super) use self::call::calls;
pub(super) use self::picture::of_base64 as picture;
pub(super) use self::result::{answers, late_result, result, unanswered};
pub(super) use self::text::{become_text, placeholder};

/// Whether reasoning is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// It is.
    Sent,
    /// What stood before it was changed, so the API would refuse it (N2).
    Stripped,
}

/// Whether a block may be the first of a conversation though the model says it.
pub(super) fn may_open(piece: &Piece) -> bool {
    piece.part == Part::SignedSummary
}

/// The blocks of a line of a response.
pub(super) fn said(view: View<'_>, rules: &Rules, thinking: Thinking) -> Vec<Piece> {
    let blocks = &view.facets.blocks;
    let outer = blocks.iter().enumerate().filter(|(_, block)| !block.inner);
    outer
        .filter_map(|(index, block)| {
            let source = Source { view, index, block };
            match block.kind {
                BlockKind::Text => source.text(content::SAID_TEXT),
                // Looked at by nobody: a type with a text of its own that says nothing.
                _ if block.blank => None,
                BlockKind::Thinking => source.thinking(content::THINKING, thinking),
                BlockKind::RedactedThinking => {
                    source.thinking(content::REDACTED_THINKING, thinking)
                }
                BlockKind::ToolUse => Some(call::call(source)),
                _ => Some(source.by_table(Role::Assistant, rules, None)),
            }
        })
        .collect()
}

/// How many blocks of a line are reasoning.
pub(super) fn thoughts(view: View<'_>) -> u32 {
    let blocks = view.facets.blocks.iter();
    blocks
        .filter(|block| !block.inner && block.kind.is_thinking())
        .count() as u32
}

/// A block from the user's side that is no result.
pub(super) fn input(view: View<'_>, index: usize, rules: &Rules, images: &mut Images) -> Piece {
    let block = &view.facets.blocks[index];
    let source = Source { view, index, block };
    let text = match block.kind {
        BlockKind::Text => source.text(content::USER_TEXT),
        _ => None,
    };
    text.unwrap_or_else(|| source.by_table(Role::User, rules, Some(images)))
}

/// A block in its entry.
#[derive(Clone, Copy)]
struct Source<'a> {
    view: View<'a>,
    index: usize,
    block: &'a Block,
}

impl<'a> Source<'a> {
    fn raw(self) -> &'a [u8] {
        self.block.span.of(self.view.line)
    }

    fn object(self) -> Object<'a> {
        Object::new(self.raw())
    }

    fn piece(self, json: impl Into<Vec<u8>>, part: Part) -> Piece {
        let rest = self.view.facets.blocks.get(self.index + 1..);
        Piece {
            json: json.into(),
            kind: self.block.kind,
            markable: !matches!(part, Part::Thinking | Part::Blank),
            part,
            entry: self.view.uuid(),
            origin: match self.view.facets.flags.compact_summary {
                true => Origin::Summary,
                false => Origin::Said,
            },
            weight: Rough.block(self.block, rest.unwrap_or_default()),
        }
    }

    /// Text; none if it is empty.
    fn text(self, fields: &'static [shape::Field]) -> Option<Piece> {
        let raw = self.raw();
        let json = match raw.first() {
            // A plain string stands for a block.
            Some(b'"') => fit(raw, &shape::Shape::Text).map(|text| {
                let json = [br#"{"type":"text","text":"#, &*text, b"}"].concat();
                Cow::Owned(json)
            }),
            _ => record(raw, fields, |field, value| fit(value, field.shape)),
        };
        let part = match self.block.blank {
            true => Part::Blank,
            false => Part::Plain,
        };
        match json {
            Ok(_) if self.block.blank && self.block.units == 0 => None,
            Ok(json) => Some(self.piece(json, part)),
            Err(Misfit) => Some(self.wrapped()),
        }
    }

    fn thinking(self, fields: &'static [shape::Field], thinking: Thinking) -> Option<Piece> {
        if thinking == Thinking::Stripped {
            return None;
        }
        let json = record(self.raw(), fields, |field, value| fit(value, field.shape));
        json.ok().map(|json| self.piece(json, Part::Thinking))
    }

    /// A block that the table knows, or else its JSON as text.
    fn by_table(self, role: Role, rules: &Rules, images: Option<&mut Images>) -> Piece {
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
                    Err(Misfit) => self.wrapped(),
                }
            }
            (None, _) => self.wrapped(),
        }
    }

    fn media(self, json: Result<Cow<'a, [u8]>, Misfit>, kind: &Kind) -> Piece {
        match json {
            // A picture that was left out is text.
            Ok(json) if json.starts_with(picture::LEFT_OUT) => Piece {
                kind: BlockKind::Text,
                markable: kind.markable,
                origin: Origin::LeftOut,
                ..self.piece(json, Part::Plain)
            },
            Ok(json) => Piece {
                markable: kind.markable,
                ..self.piece(json, Part::Plain)
            },
            Err(Misfit) => self.wrapped(),
        }
    }

    fn bonded(self, json: Cow<'a, [u8]>, kind: &Kind, rules: &Rules) -> Piece {
        let id = |name: &str| {
            let id = self.object().string(name).unwrap_or_default();
            Id::of(&id)
        };
        let part = match kind.bond {
            Bond::None => Part::Plain,
            Bond::ServerCall => Part::ServerCall(id("id"), Server::Tool),
            Bond::ServerResult => Part::ServerResult(id("tool_use_id"), Server::Tool),
            Bond::McpCall => Part::ServerCall(id("id"), Server::Mcp),
            Bond::McpResult => Part::ServerResult(id("tool_use_id"), Server::Mcp),
            Bond::Summary if self.object().string("signature").is_none() => Part::Plain,
            Bond::Summary if rules.takes(&[kinds::ON_DEMAND]) => Part::SignedSummary,
            Bond::Summary => return self.wrapped(),
        };
        Piece {
            markable: kind.markable,
            ..self.piece(json, part)
        }
    }

    /// A string among blocks.
    fn bare_string(self) -> Option<Piece> {
        let text = fit(self.raw(), &shape::Shape::Filled).ok()?;
        let json = [br#"{"type":"text","text":"#, &*text, b"}"].concat();
        Some(Piece {
            kind: BlockKind::Text,
            ..self.piece(json, Part::Plain)
        })
    }

    /// A text block that carries the JSON.
    fn wrapped(self) -> Piece {
        Piece::text(
            &text::wrapped(self.raw()),
            self.view.uuid(),
            Origin::Wrapped,
        )
    }
}

//! Scans a message, a system prompt or a list of tools for what bears a marker and what could. `found` reads the markers.

use std::ops::Range;

use longhaul_core::json::{self, Cursor, Fault, Value};

use super::found::{Found, look_into, members};
use crate::body::Role;

/// What is marked or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// Text that says something.
    Text,
    /// Text that says nothing.
    EmptyText,
    /// Thinking, in the open or not.
    Thinking,
    /// Another block of content that may bear a marker.
    Content,
    /// A tool definition.
    Tool,
    /// A tool definition that is not in the prompt until it is found.
    DeferredTool,
    /// Anything else: what the model called, what servers answered, kinds to come.
    #[default]
    Other,
}

/// A block or a tool definition. Places are relative to what was scanned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Bearer {
    /// What it is.
    pub(super) kind: Kind,
    /// Markers of its own: one at most, unless a key is repeated.
    pub(super) own: Vec<Found>,
    /// Markers inside it.
    pub(super) inside: Vec<Found>,
    /// Where a marker of ours goes: behind the last member that stays.
    pub(super) behind: Option<usize>,
}

impl Bearer {
    /// Whether a marker of ours can stand on it. Kinds that we do not know get none.
    pub(super) fn can_bear(&self) -> bool {
        let known = matches!(self.kind, Kind::Text | Kind::Content | Kind::Tool);
        known && self.behind.is_some()
    }

    /// Its markers, in the order in which they count.
    pub(super) fn found(&self) -> impl Iterator<Item = &Found> {
        self.inside.iter().chain(&self.own)
    }
}

/// What a message or the system prompt says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Content {
    /// Nothing that is known.
    #[default]
    Nothing,
    /// A string, quotes included.
    Plain(Range<usize>),
    /// Blocks.
    Blocks(Vec<Bearer>),
}

impl Content {
    /// How many positions it is to the cache.
    pub(super) fn positions(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Plain(_) => 1,
            Self::Blocks(blocks) => blocks.len(),
        }
    }

    /// Whether a marker can stand on a block.
    pub(super) fn can_bear(&self, block: usize) -> bool {
        match self {
            Self::Nothing => false,
            // Not empty: more than its quotes.
            Self::Plain(span) => block == 0 && span.len() > 2,
            Self::Blocks(blocks) => blocks.get(block).is_some_and(Bearer::can_bear),
        }
    }

    /// The last block on which a marker can stand.
    pub(super) fn last_able(&self) -> Option<usize> {
        (0..self.positions())
            .rev()
            .find(|block| self.can_bear(*block))
    }

    /// The blocks, none of a string.
    pub(super) fn blocks(&self) -> &[Bearer] {
        match self {
            Self::Blocks(blocks) => blocks,
            _ => &[],
        }
    }

    /// The markers in it.
    pub(super) fn found(&self) -> impl Iterator<Item = &Found> {
        self.blocks().iter().flat_map(Bearer::found)
    }
}

/// One message. Places are relative to its first byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) content: Content,
}

/// Scans an element of `messages`.
pub(super) fn message(raw: &[u8]) -> Result<Message, Fault> {
    let (mut role, mut said) = (Role::Other, Content::Nothing);
    Cursor::new(raw).object(|cursor, key| {
        match key {
            b"role" => {
                let name = cursor.raw()?;
                role = Role::of(json::content(name).unwrap_or_default());
            }
            b"content" => said = read(cursor, raw)?,
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok(Message {
        role,
        content: said,
    })
}

/// Scans a `system`.
pub(super) fn system(raw: &[u8]) -> Result<Content, Fault> {
    read(&mut Cursor::new(raw), raw)
}

/// Scans a `tools`.
pub(super) fn tools(raw: &[u8]) -> Result<Vec<Bearer>, Fault> {
    let mut tools = Vec::new();
    let mut cursor = Cursor::new(raw);
    if cursor.peek()? != Value::Array {
        return Ok(tools);
    }
    cursor.array(|cursor| {
        tools.push(match cursor.peek()? {
            Value::Object => tool(cursor, raw)?,
            _ => skipped(cursor)?,
        });
        Ok(())
    })?;
    Ok(tools)
}

fn read(cursor: &mut Cursor<'_>, raw: &[u8]) -> Result<Content, Fault> {
    let start = cursor.position();
    Ok(match cursor.peek()? {
        Value::String => {
            let length = cursor.raw()?.len();
            Content::Plain(start..start + length)
        }
        Value::Array => {
            let mut blocks = Vec::new();
            cursor.array(|cursor| {
                blocks.push(match cursor.peek()? {
                    Value::Object => block(cursor, raw)?,
                    _ => skipped(cursor)?,
                });
                Ok(())
            })?;
            Content::Blocks(blocks)
        }
        _ => {
            cursor.skip()?;
            Content::Nothing
        }
    })
}

fn skipped(cursor: &mut Cursor<'_>) -> Result<Bearer, Fault> {
    cursor.skip()?;
    Ok(Bearer::default())
}

fn block(cursor: &mut Cursor<'_>, raw: &[u8]) -> Result<Bearer, Fault> {
    let mut inside = Vec::new();
    let mut kind = Kind::Other;
    let mut empty = true;
    let (own, behind) = members(cursor, raw, |cursor, key| {
        match key {
            b"type" => {
                kind = match json::content(cursor.raw()?).unwrap_or_default() {
                    b"text" => Kind::Text,
                    b"thinking" | b"redacted_thinking" => Kind::Thinking,
                    b"image" | b"document" | b"search_result" | b"tool_result" => Kind::Content,
                    _ => Kind::Other,
                }
            }
            b"text" => {
                empty = cursor
                    .string_or_skip()?
                    .is_none_or(|text| text.start == text.end)
            }
            b"content" | b"source" => look_into(cursor, raw, &mut inside, 0)?,
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    if kind == Kind::Text && empty {
        kind = Kind::EmptyText;
    }
    Ok(Bearer {
        kind,
        own,
        inside,
        behind,
    })
}

fn tool(cursor: &mut Cursor<'_>, raw: &[u8]) -> Result<Bearer, Fault> {
    let mut kind = Kind::Tool;
    let (own, behind) = members(cursor, raw, |cursor, key| {
        if key != b"defer_loading" {
            return cursor.skip();
        }
        if cursor.is_true()? {
            kind = Kind::DeferredTool;
        }
        Ok(())
    })?;
    Ok(Bearer {
        kind,
        own,
        inside: Vec::new(),
        behind,
    })
}

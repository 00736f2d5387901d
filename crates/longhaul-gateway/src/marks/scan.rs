//! Finds the markers in a message, a system prompt or a list of tools, and what could bear one.
//!
//! A marker on a block inside a block (the parts of a tool's result, the sources of a document) is found too: it counts as
//! one to the API. What is the client's own (`input` of a call, a tool's schema) is not looked into.

use std::ops::Range;

use longhaul_core::json::{Cursor, Fault, Object, Value};
use longhaul_core::prompt::Ttl;

use crate::body::Role;

/// How deep blocks inside blocks are looked into.
const DEEPEST: usize = 8;

/// A member `cache_control`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// What to cut so that it is gone: it, and one comma.
    pub(super) cut: Range<usize>,
    /// Its lifetime; none if it is no marker (null, say).
    pub(super) ttl: Option<Ttl>,
    /// Whether it is what we would write, spelled in whatever way.
    plain: bool,
}

impl Found {
    /// Whether it is what we would write for this lifetime.
    pub(super) fn is(&self, ttl: Ttl) -> bool {
        self.plain && self.ttl == Some(ttl)
    }
}

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
                role = Role::of(unquoted(name));
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

fn unquoted(raw: &[u8]) -> &[u8] {
    let open = raw.strip_prefix(b"\"");
    open.and_then(|rest| rest.strip_suffix(b"\""))
        .unwrap_or_default()
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
                kind = match unquoted(cursor.raw()?) {
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

/// Markers of blocks inside a block.
fn look_into(
    cursor: &mut Cursor<'_>,
    raw: &[u8],
    inside: &mut Vec<Found>,
    depth: usize,
) -> Result<(), Fault> {
    match cursor.peek()? {
        Value::Array if depth < DEEPEST => {
            cursor.array(|cursor| look_into(cursor, raw, inside, depth + 1))
        }
        Value::Object if depth < DEEPEST => {
            let mut deeper = Vec::new();
            let (own, _) = members(cursor, raw, |cursor, key| match key {
                b"content" | b"source" => look_into(cursor, raw, &mut deeper, depth + 1),
                _ => cursor.skip(),
            })?;
            inside.extend(deeper);
            inside.extend(own);
            Ok(())
        }
        _ => cursor.skip(),
    }
}

/// Walks an object: `other` passes every value but those of `cache_control`. What was found of these, and the place behind
/// the last of the others.
fn members(
    cursor: &mut Cursor<'_>,
    raw: &[u8],
    mut other: impl FnMut(&mut Cursor<'_>, &[u8]) -> Result<(), Fault>,
) -> Result<(Vec<Found>, Option<usize>), Fault> {
    let (mut found, mut behind) = (Vec::new(), None);
    cursor.object(|cursor, key| {
        let start = cursor.position();
        if key == b"cache_control" {
            let value = cursor.raw()?;
            let first = if behind.is_some() {
                Stands::Behind
            } else {
                Stands::First
            };
            found.push(Found {
                cut: cut(raw, &(start..start + value.len()), first),
                ..marker(value)
            });
            return Ok(());
        }
        other(cursor, key)?;
        let passed = raw.get(..cursor.position()).unwrap_or_default();
        behind = Some(passed.trim_ascii_end().len());
        Ok(())
    })?;
    Ok((found, behind))
}

/// Where a member that is cut stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    /// Before all members that stay.
    First,
    /// Behind one that stays.
    Behind,
}

/// What to cut so that a member is gone, given its value.
pub(super) fn cut(raw: &[u8], value: &Range<usize>, stands: Stands) -> Range<usize> {
    let last = |byte: u8, end: usize| {
        let before = raw.get(..end).unwrap_or_default();
        before.iter().rposition(|each| *each == byte).unwrap_or(end)
    };
    // The key holds no quote, however it is spelled.
    let key = last(b'"', last(b'"', value.start));
    match stands {
        Stands::Behind => last(b',', key)..value.end,
        Stands::First => {
            let white = |from: usize| {
                let rest = raw.get(from..).unwrap_or_default();
                from + rest.len() - rest.trim_ascii_start().len()
            };
            let comma = white(value.end);
            match raw.get(comma) {
                Some(b',') => key..white(comma + 1),
                _ => key..value.end,
            }
        }
    }
}

/// Reads a marker; it is not cut anywhere.
pub(super) fn marker(value: &[u8]) -> Found {
    let is_object = value.first() == Some(&b'{');
    let fields = Object::new(value);
    let named = |name| fields.string(name);
    let known = named("type").as_deref() == Some("ephemeral");
    let (ttl, said) = match (fields.get("ttl"), named("ttl").as_deref()) {
        (None, _) => (Ttl::FiveMinutes, Some(1)),
        (_, Some("5m")) => (Ttl::FiveMinutes, Some(2)),
        (_, Some("1h")) => (Ttl::OneHour, Some(2)),
        _ => (Ttl::FiveMinutes, None),
    };
    let mut count = 0;
    let walked = Cursor::new(value).object(|cursor, _| {
        count += 1;
        cursor.skip()
    });
    Found {
        cut: 0..0,
        ttl: is_object.then_some(ttl),
        plain: known && walked.is_ok() && said == Some(count),
    }
}

//! Scans a message, a system prompt or a list of tools for blocks that have a breakpoint or could have one.
//! `cache_control` reads the breakpoints.

use std::ops::Range;

use longhaul_core::json::{self, JsonCursor, JsonFault, JsonKind};

use super::cache_control::{CacheControlMember, members, scan_inside};
use crate::body::BodyRole;

/// The kind of a block, as far as it matters for breakpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CacheableKind {
    /// Text that is not empty.
    Text,
    /// Empty text.
    EmptyText,
    /// Thinking, readable or redacted.
    Thinking,
    /// Another content block that may have a breakpoint.
    Content,
    /// A tool definition.
    Tool,
    /// A tool definition that is not in the prompt until a tool search finds it.
    DeferredTool,
    /// Anything else: the model's tool calls, server tool results, future kinds.
    #[default]
    Other,
}

/// A block or a tool definition. Positions are relative to the scanned text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CacheableBlock {
    /// The kind of the block.
    pub(super) kind: CacheableKind,
    /// Its own breakpoints: at most one, unless a key is repeated.
    pub(super) own: Vec<CacheControlMember>,
    /// Breakpoints nested in it.
    pub(super) inside: Vec<CacheControlMember>,
    /// Where the gateway inserts a breakpoint: after the last member that stays.
    pub(super) insert_at: Option<usize>,
}

impl CacheableBlock {
    /// Whether the gateway can set a breakpoint on it. Unknown kinds never get one.
    pub(super) fn can_bear(&self) -> bool {
        let known = matches!(
            self.kind,
            CacheableKind::Text | CacheableKind::Content | CacheableKind::Tool
        );
        known && self.insert_at.is_some()
    }

    /// Its breakpoints, in the order in which they count.
    pub(super) fn found(&self) -> impl Iterator<Item = &CacheControlMember> {
        self.inside.iter().chain(&self.own)
    }
}

/// The content of a message or of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum ScannedContent {
    /// Content of an unknown form.
    #[default]
    Nothing,
    /// A string, quotes included.
    Plain(Range<usize>),
    /// A list of blocks.
    Blocks(Vec<CacheableBlock>),
}

impl ScannedContent {
    /// How many positions the content takes in the cache.
    pub(super) fn positions(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Plain(_) => 1,
            Self::Blocks(blocks) => blocks.len(),
        }
    }

    /// Whether a block can have a breakpoint.
    pub(super) fn can_bear(&self, block: usize) -> bool {
        match self {
            Self::Nothing => false,
            // The text is not empty: it has more than its quotes.
            Self::Plain(span) => block == 0 && span.len() > 2,
            Self::Blocks(blocks) => blocks.get(block).is_some_and(CacheableBlock::can_bear),
        }
    }

    /// The last block that can have a breakpoint.
    pub(super) fn last_able(&self) -> Option<usize> {
        (0..self.positions())
            .rev()
            .find(|block| self.can_bear(*block))
    }

    /// The blocks; empty for a string.
    pub(super) fn blocks(&self) -> &[CacheableBlock] {
        match self {
            Self::Blocks(blocks) => blocks,
            _ => &[],
        }
    }

    /// The breakpoints in the content.
    pub(super) fn found(&self) -> impl Iterator<Item = &CacheControlMember> {
        self.blocks().iter().flat_map(CacheableBlock::found)
    }
}

/// One message. Positions are relative to its first byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScannedMessage {
    pub(super) role: BodyRole,
    pub(super) content: ScannedContent,
}

/// Scans an element of `messages`.
pub(super) fn message(raw: &[u8]) -> Result<ScannedMessage, JsonFault> {
    let (mut role, mut said) = (BodyRole::Other, ScannedContent::Nothing);
    JsonCursor::new(raw).object(|cursor, key| {
        match key {
            b"role" => {
                let name = cursor.raw()?;
                role = BodyRole::of(json::content(name).unwrap_or_default());
            }
            b"content" => said = read(cursor, raw)?,
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok(ScannedMessage {
        role,
        content: said,
    })
}

/// Scans a `system` value.
pub(super) fn system(raw: &[u8]) -> Result<ScannedContent, JsonFault> {
    read(&mut JsonCursor::new(raw), raw)
}

/// Scans a `tools` value.
pub(super) fn tools(raw: &[u8]) -> Result<Vec<CacheableBlock>, JsonFault> {
    let mut tools = Vec::new();
    let mut cursor = JsonCursor::new(raw);
    if cursor.peek()? != JsonKind::Array {
        return Ok(tools);
    }
    cursor.array(|cursor| {
        tools.push(match cursor.peek()? {
            JsonKind::Object => tool(cursor, raw)?,
            _ => skipped(cursor)?,
        });
        Ok(())
    })?;
    Ok(tools)
}

fn read(cursor: &mut JsonCursor<'_>, raw: &[u8]) -> Result<ScannedContent, JsonFault> {
    let start = cursor.position();
    Ok(match cursor.peek()? {
        JsonKind::String => {
            let length = cursor.raw()?.len();
            ScannedContent::Plain(start..start + length)
        }
        JsonKind::Array => {
            let mut blocks = Vec::new();
            cursor.array(|cursor| {
                blocks.push(match cursor.peek()? {
                    JsonKind::Object => block(cursor, raw)?,
                    _ => skipped(cursor)?,
                });
                Ok(())
            })?;
            ScannedContent::Blocks(blocks)
        }
        _ => {
            cursor.skip()?;
            ScannedContent::Nothing
        }
    })
}

fn skipped(cursor: &mut JsonCursor<'_>) -> Result<CacheableBlock, JsonFault> {
    cursor.skip()?;
    Ok(CacheableBlock::default())
}

fn block(cursor: &mut JsonCursor<'_>, raw: &[u8]) -> Result<CacheableBlock, JsonFault> {
    let mut inside = Vec::new();
    let mut kind = CacheableKind::Other;
    let mut empty = true;
    let (own, behind) = members(cursor, raw, |cursor, key| {
        match key {
            b"type" => {
                kind = match json::content(cursor.raw()?).unwrap_or_default() {
                    b"text" => CacheableKind::Text,
                    b"thinking" | b"redacted_thinking" => CacheableKind::Thinking,
                    b"image" | b"document" | b"search_result" | b"tool_result" => {
                        CacheableKind::Content
                    }
                    _ => CacheableKind::Other,
                }
            }
            b"text" => {
                empty = cursor
                    .string_or_skip()?
                    .is_none_or(|text| text.start == text.end)
            }
            b"content" | b"source" => scan_inside(cursor, raw, &mut inside, 0)?,
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    if kind == CacheableKind::Text && empty {
        kind = CacheableKind::EmptyText;
    }
    Ok(CacheableBlock {
        kind,
        own,
        inside,
        insert_at: behind,
    })
}

fn tool(cursor: &mut JsonCursor<'_>, raw: &[u8]) -> Result<CacheableBlock, JsonFault> {
    let mut kind = CacheableKind::Tool;
    let (own, behind) = members(cursor, raw, |cursor, key| {
        if key != b"defer_loading" {
            return cursor.skip();
        }
        if cursor.is_true()? {
            kind = CacheableKind::DeferredTool;
        }
        Ok(())
    })?;
    Ok(CacheableBlock {
        kind,
        own,
        inside: Vec::new(),
        insert_at: behind,
    })
}

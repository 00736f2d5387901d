//! Reads a message's content: its blocks with their positions and sizes.

use super::{measured, span, text, units};
use crate::json::{JsonCursor, JsonFault, JsonKind, StringLiteral, decode};
use crate::message::{BlockKind, ByteSpan, EntryBlock};

/// Tool results may contain tool results. Below this depth they are measured but not split into blocks.
const MAX_RESULT_NESTING: usize = 32;

/// Reads a message's content: a string, which is one text block, or a list of blocks.
pub(super) fn content(
    cursor: &mut JsonCursor<'_>,
    line: &[u8],
    blocks: &mut Vec<EntryBlock>,
) -> Result<(), JsonFault> {
    match cursor.peek()? {
        JsonKind::String => {
            let literal = cursor.string()?;
            blocks.push(text_block(line, literal));
            Ok(())
        }
        JsonKind::Array => cursor.array(|cursor| block(cursor, line, blocks, 0)),
        _ => cursor.skip(),
    }
}

/// Returns the text block that a plain string represents.
fn text_block(line: &[u8], literal: StringLiteral) -> EntryBlock {
    let whole = ByteSpan::new(literal.start - 1, literal.end + 1);
    EntryBlock {
        kind: BlockKind::Text,
        blank: is_blank(line, literal),
        span: whole,
        body: whole,
        units: units(literal.utf16),
        ..EntryBlock::default()
    }
}

/// Whether the text is empty or white space. Stops at the first other character.
fn is_blank(line: &[u8], literal: StringLiteral) -> bool {
    let mut rest = &line[literal.start..literal.end];
    loop {
        rest = match rest {
            [] => return true,
            [b' ', rest @ ..] => rest,
            [b'\\', b'n' | b'r' | b't', rest @ ..] => rest,
            [b'\\', b'u', ..] => return decode(rest).trim().is_empty(),
            [byte, ..] if byte.is_ascii() => return false,
            // Unusual spaces are at most three bytes long, so the first character alone settles nearly all texts.
            _ => {
                let first = first_char(rest);
                match first {
                    Some(first) if first.is_whitespace() => &rest[first.len_utf8()..],
                    _ => return false,
                }
            }
        };
    }
}

/// Returns the first character of a text that is known to be UTF-8.
fn first_char(bytes: &[u8]) -> Option<char> {
    let longest = &bytes[..bytes.len().min(4)];
    let chunk = longest.utf8_chunks().next()?;
    chunk.valid().chars().next()
}

fn block(
    cursor: &mut JsonCursor<'_>,
    line: &[u8],
    blocks: &mut Vec<EntryBlock>,
    nesting: usize,
) -> Result<(), JsonFault> {
    let (start, before) = (cursor.position(), cursor.canonical());
    let index = blocks.len();
    blocks.push(EntryBlock {
        inner: nesting > 0,
        ..EntryBlock::default()
    });
    let mut this = blocks[index];
    let mut text_units = 0;
    let mut input_units = 0;
    let mut name_units = 0;
    match cursor.peek()? {
        JsonKind::Object => cursor.object(|cursor, key| {
            match key {
                b"type" => this.kind = BlockKind::from_type(text(cursor)?.of(line)),
                b"id" | b"tool_use_id" => this.id = text(cursor)?,
                b"name" => {
                    if let Some(literal) = cursor.string_or_skip()? {
                        this.name = span(literal);
                        name_units = literal.utf16;
                    }
                }
                b"text" => {
                    if let Some(literal) = cursor.string_or_skip()? {
                        let text = text_block(line, literal);
                        (this.body, this.blank) = (text.body, text.blank);
                        text_units = literal.utf16;
                    }
                }
                b"input" => {
                    let (input, size) = measured(cursor, line)?;
                    this.body = input;
                    input_units = size;
                }
                b"content" => {
                    blocks.truncate(index + 1);
                    this.has_inner = false;
                    let start = cursor.position();
                    match cursor.peek()? {
                        JsonKind::String => {
                            let literal = cursor.string()?;
                            text_units = literal.utf16;
                            this.blank = is_blank(line, literal);
                        }
                        JsonKind::Array if nesting < MAX_RESULT_NESTING => {
                            this.has_inner = true;
                            text_units = 0;
                            cursor.array(|cursor| block(cursor, line, blocks, nesting + 1))?;
                        }
                        _ => cursor.skip()?,
                    }
                    let behind = line[..cursor.position()].trim_ascii_end().len();
                    this.body = ByteSpan::new(start, behind);
                }
                b"is_error" => this.is_error = cursor.is_true()?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?,
        _ => cursor.skip()?,
    }
    let serialized = cursor.canonical() - before;
    this.span = ByteSpan::new(start, line[..cursor.position()].trim_ascii_end().len());
    if this.kind != BlockKind::ToolResult {
        blocks.truncate(index + 1);
        this.has_inner = false;
    }
    this.units = units(match this.kind {
        BlockKind::Text | BlockKind::ToolResult => text_units,
        BlockKind::ToolUse => name_units + input_units,
        _ => serialized,
    });
    blocks[index] = this;
    Ok(())
}

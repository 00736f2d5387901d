//! One pass over a line: is it an intact entry, and where do its parts lie.
//!
//! Every byte is validated (UTF-8, then the whole JSON grammar) and looked at once. Unknown fields and block types
//! are passed over; they stay in the bytes. When a key is repeated the last one counts, as in other readers.

use super::{Block, BlockKind, EntryKind, Facets, Iteration, IterationKind, Span, Subtype, Usage};
use crate::json::{Cursor, Fault, FaultKind, Literal, Value, decode};

/// Tool results may hold tool results; deeper than this they are measured, not taken apart.
const MAX_RESULT_NESTING: usize = 32;

/// Why a line is not an intact entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Not UTF-8; valid up to this byte.
    InvalidUtf8(usize),
    /// Not UTF-8 only because the last character is not whole; valid up to this byte.
    CutInCharacter(usize),
    /// Not JSON.
    NotJson(Fault),
    /// JSON, but not an object.
    NotAnObject,
    /// An object, and then more.
    TrailingGarbage(Fault),
    /// 4 GiB or longer.
    TooLong,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InvalidUtf8(at) | Self::CutInCharacter(at) => {
                write!(f, "not UTF-8 from byte {} on", at + 1)
            }
            Self::NotJson(fault) => write!(f, "not JSON: {fault}"),
            Self::NotAnObject => f.write_str("JSON, but not an object"),
            Self::TrailingGarbage(fault) => write!(f, "damaged: {fault}"),
            Self::TooLong => f.write_str("longer than 4 GiB"),
        }
    }
}

impl Damage {
    /// Whether the line is the beginning of an entry that was cut off.
    pub fn is_cut_off(&self) -> bool {
        match self {
            Self::NotJson(fault) => fault.kind == FaultKind::UnexpectedEnd,
            Self::CutInCharacter(_) => true,
            _ => false,
        }
    }
}

/// Scans lines, reusing its memory from one to the next.
#[derive(Debug, Default)]
pub struct Scanner {
    facets: Facets,
}

impl Scanner {
    /// Scans one line, line end excluded. On success [`Scanner::facets`] holds the notes on it.
    pub fn scan(&mut self, line: &[u8]) -> Result<&Facets, Damage> {
        if u32::try_from(line.len()).is_err() {
            return Err(Damage::TooLong);
        }
        if simdutf8::basic::from_utf8(line).is_err() {
            return Err(invalid_utf8(line));
        }
        self.facets.clear();
        let mut cursor = Cursor::new(line);
        match cursor.peek() {
            Ok(Value::Object) => {}
            Ok(_) => {
                let whole = cursor.skip().and_then(|()| cursor.end());
                return Err(whole.map_or_else(Damage::NotJson, |()| Damage::NotAnObject));
            }
            Err(fault) => return Err(Damage::NotJson(fault)),
        }
        entry(&mut cursor, line, &mut self.facets).map_err(Damage::NotJson)?;
        cursor.end().map_err(Damage::TrailingGarbage)?;
        Ok(&self.facets)
    }

    /// The notes on the line scanned last.
    pub fn facets(&self) -> &Facets {
        &self.facets
    }
}

/// Why bytes that are not UTF-8 are not.
#[cold]
fn invalid_utf8(line: &[u8]) -> Damage {
    match std::str::from_utf8(line) {
        Err(error) if error.error_len().is_none() => Damage::CutInCharacter(error.valid_up_to()),
        Err(error) => Damage::InvalidUtf8(error.valid_up_to()),
        Ok(_) => Damage::InvalidUtf8(line.len()),
    }
}

fn span(literal: Literal) -> Span {
    Span::new(literal.start, literal.end)
}

/// The content of a string value; absent for any other value.
fn text(cursor: &mut Cursor<'_>) -> Result<Span, Fault> {
    Ok(cursor.string_or_skip()?.map_or(Span::ABSENT, span))
}

/// Passes a value; its span and the UTF-16 units of its serialised form.
fn measured(cursor: &mut Cursor<'_>, line: &[u8]) -> Result<(Span, usize), Fault> {
    let (start, before) = (cursor.position(), cursor.canonical());
    cursor.skip()?;
    let behind = line[..cursor.position()].trim_ascii_end().len();
    Ok((Span::new(start, behind), cursor.canonical() - before))
}

fn units(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn entry(cursor: &mut Cursor<'_>, line: &[u8], facets: &mut Facets) -> Result<(), Fault> {
    cursor.object(|cursor, key| {
        match key {
            b"uuid" => facets.uuid = text(cursor)?,
            b"parentUuid" => facets.parent = text(cursor)?,
            b"logicalParentUuid" => facets.logical_parent = text(cursor)?,
            b"sessionId" => facets.session = text(cursor)?,
            b"timestamp" => facets.timestamp = text(cursor)?,
            b"type" => {
                facets.type_name = text(cursor)?;
                facets.kind = EntryKind::from_type(facets.type_name.of(line));
            }
            b"subtype" => facets.subtype = Subtype::from_name(text(cursor)?.of(line)),
            b"isSidechain" => facets.flags.sidechain = cursor.is_true()?,
            b"isMeta" => facets.flags.meta = cursor.is_true()?,
            b"isCompactSummary" => facets.flags.compact_summary = cursor.is_true()?,
            b"isVisibleInTranscriptOnly" => facets.flags.transcript_only = cursor.is_true()?,
            b"isApiErrorMessage" => facets.flags.api_error = cursor.is_true()?,
            b"message" => message(cursor, line, facets)?,
            b"attachment" => {
                let (span, size) = measured(cursor, line)?;
                (facets.attachment, facets.attachment_units) = (span, units(size));
            }
            b"compactMetadata" | b"microcompactMetadata" => {
                facets.metadata = measured(cursor, line)?.0;
            }
            _ => cursor.skip()?,
        }
        Ok(())
    })
}

fn message(cursor: &mut Cursor<'_>, line: &[u8], facets: &mut Facets) -> Result<(), Fault> {
    facets.blocks.clear();
    facets.usage = None;
    if cursor.peek()? != Value::Object {
        facets.flags.has_message = false;
        return cursor.skip();
    }
    facets.flags.has_message = true;
    cursor.object(|cursor, key| {
        match key {
            b"id" => facets.message_id = text(cursor)?,
            b"model" => {
                facets.model = text(cursor)?;
                facets.flags.synthetic = facets.model.of(line) == b"<synthetic>";
            }
            b"content" => {
                facets.blocks.clear();
                facets.flags.string_content = cursor.peek()? == Value::String;
                content(cursor, line, &mut facets.blocks)?;
            }
            b"usage" => {
                facets.usage = if cursor.peek()? == Value::Object {
                    Some(Box::new(usage(cursor, line)?))
                } else {
                    cursor.skip()?;
                    None
                };
            }
            _ => cursor.skip()?,
        }
        Ok(())
    })
}

/// A message's content: a string, which is one text block, or a list of blocks.
fn content(cursor: &mut Cursor<'_>, line: &[u8], blocks: &mut Vec<Block>) -> Result<(), Fault> {
    match cursor.peek()? {
        Value::String => {
            let literal = cursor.string()?;
            blocks.push(text_block(line, literal));
            Ok(())
        }
        Value::Array => cursor.array(|cursor| block(cursor, line, blocks, 0)),
        _ => cursor.skip(),
    }
}

/// The text block that a plain string stands for.
fn text_block(line: &[u8], literal: Literal) -> Block {
    let whole = Span::new(literal.start - 1, literal.end + 1);
    Block {
        kind: BlockKind::Text,
        blank: is_blank(line, literal),
        span: whole,
        body: whole,
        units: units(literal.utf16),
        ..Block::default()
    }
}

/// Whether the text is empty or white space. Looks no further than the first character that is not.
fn is_blank(line: &[u8], literal: Literal) -> bool {
    let mut rest = &line[literal.start..literal.end];
    loop {
        rest = match rest {
            [] => return true,
            [b' ', rest @ ..] => rest,
            [b'\\', b'n' | b'r' | b't', rest @ ..] => rest,
            [b'\\', b'u', ..] => return decode(rest).trim().is_empty(),
            [byte, ..] if byte.is_ascii() => return false,
            // Exotic spaces are at most three bytes, so one look at the first character settles nearly all texts.
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

/// The first character of a text that is known to be UTF-8.
fn first_char(bytes: &[u8]) -> Option<char> {
    let longest = &bytes[..bytes.len().min(4)];
    let chunk = longest.utf8_chunks().next()?;
    chunk.valid().chars().next()
}

fn block(
    cursor: &mut Cursor<'_>,
    line: &[u8],
    blocks: &mut Vec<Block>,
    nesting: usize,
) -> Result<(), Fault> {
    let (start, before) = (cursor.position(), cursor.canonical());
    let index = blocks.len();
    blocks.push(Block {
        inner: nesting > 0,
        ..Block::default()
    });
    let mut this = blocks[index];
    let mut text_units = 0;
    let mut input_units = 0;
    let mut name_units = 0;
    match cursor.peek()? {
        Value::Object => cursor.object(|cursor, key| {
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
                        Value::String => {
                            let literal = cursor.string()?;
                            text_units = literal.utf16;
                            this.blank = is_blank(line, literal);
                        }
                        Value::Array if nesting < MAX_RESULT_NESTING => {
                            this.has_inner = true;
                            text_units = 0;
                            cursor.array(|cursor| block(cursor, line, blocks, nesting + 1))?;
                        }
                        _ => cursor.skip()?,
                    }
                    let behind = line[..cursor.position()].trim_ascii_end().len();
                    this.body = Span::new(start, behind);
                }
                b"is_error" => this.is_error = cursor.is_true()?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?,
        _ => cursor.skip()?,
    }
    let serialised = cursor.canonical() - before;
    this.span = Span::new(start, line[..cursor.position()].trim_ascii_end().len());
    if this.kind != BlockKind::ToolResult {
        blocks.truncate(index + 1);
        this.has_inner = false;
    }
    this.units = units(match this.kind {
        BlockKind::Text | BlockKind::ToolResult => text_units,
        BlockKind::ToolUse => name_units + input_units,
        _ => serialised,
    });
    blocks[index] = this;
    Ok(())
}

fn usage(cursor: &mut Cursor<'_>, line: &[u8]) -> Result<Usage, Fault> {
    let mut counts = Counts::default();
    let mut iterations = Vec::new();
    cursor.object(|cursor, key| match key {
        b"iterations" if cursor.peek()? == Value::Array => {
            iterations.clear();
            cursor.array(|cursor| {
                iterations.extend(iteration(cursor, line)?);
                Ok(())
            })
        }
        _ => counts.field(cursor, line, key),
    })?;
    Ok(Usage {
        iterations,
        ..counts.finish()
    })
}

/// One step of a reply. Steps hold no steps of their own.
fn iteration(cursor: &mut Cursor<'_>, line: &[u8]) -> Result<Option<Iteration>, Fault> {
    if cursor.peek()? != Value::Object {
        cursor.skip()?;
        return Ok(None);
    }
    let mut kind = IterationKind::Message;
    let mut counts = Counts::default();
    cursor.object(|cursor, key| match key {
        b"type" => {
            kind = match text(cursor)?.of(line) {
                b"message" => IterationKind::Message,
                _ => IterationKind::Other,
            };
            Ok(())
        }
        _ => counts.field(cursor, line, key),
    })?;
    Ok(Some(Iteration {
        kind,
        usage: counts.finish(),
    }))
}

/// The counts of a usage object while it is being read.
#[derive(Default)]
struct Counts {
    usage: Usage,
    cache_written: u64,
}

impl Counts {
    fn field(&mut self, cursor: &mut Cursor<'_>, line: &[u8], key: &[u8]) -> Result<(), Fault> {
        let usage = &mut self.usage;
        match key {
            b"input_tokens" => usage.input = count(cursor)?,
            b"output_tokens" => usage.output = count(cursor)?,
            b"cache_read_input_tokens" => usage.cache_read = count(cursor)?,
            b"cache_creation_input_tokens" => self.cache_written = count(cursor)?,
            b"cache_creation" if cursor.peek()? == Value::Object => {
                cursor.object(|cursor, key| {
                    match key {
                        b"ephemeral_5m_input_tokens" => usage.cache_write_5m = count(cursor)?,
                        b"ephemeral_1h_input_tokens" => usage.cache_write_1h = count(cursor)?,
                        _ => cursor.skip()?,
                    }
                    Ok(())
                })?;
            }
            b"service_tier" => usage.batch = text(cursor)?.of(line) == b"batch",
            b"inference_geo" => usage.us_only = text(cursor)?.of(line) == b"us",
            _ => cursor.skip()?,
        }
        Ok(())
    }

    fn finish(mut self) -> Usage {
        // The split by lifetime is newer than the total, and the default lifetime is five minutes.
        let split = self.usage.cache_write();
        self.usage.cache_write_5m += self.cache_written.saturating_sub(split);
        self.usage
    }
}

/// A token count; anything else is none. Capped so that sums of hostile files cannot overflow.
fn count(cursor: &mut Cursor<'_>) -> Result<u64, Fault> {
    const MOST: u64 = 1 << 40;
    Ok(cursor.count_or_skip()?.unwrap_or(0).min(MOST))
}

//! Scans a line in one pass: whether it is an intact entry, and where its parts are.
//!
//! Every byte is validated (UTF-8, then the whole JSON grammar) and looked at once. Unknown fields and block types are
//! skipped; they stay in the bytes. If a key is repeated, the last one counts, as in other readers.

mod content;
mod usage;

use super::{ByteSpan, EntryFacets, EntryKind, Subtype};
use crate::json::{JsonCursor, JsonFault, JsonFaultKind, JsonKind, StringLiteral};

/// Why a line is not an intact entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineDamage {
    /// The line is not UTF-8; it is valid up to this byte.
    InvalidUtf8(usize),
    /// The line is not UTF-8 only because its last character is incomplete; it is valid up to this byte.
    CutInCharacter(usize),
    /// The line is not JSON.
    NotJson(JsonFault),
    /// The line is JSON but not an object.
    NotAnObject,
    /// The line is an object with something after it.
    TrailingGarbage(JsonFault),
    /// The line is 4 GiB or longer.
    TooLong,
}

impl std::error::Error for LineDamage {}

impl std::fmt::Display for LineDamage {
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

impl LineDamage {
    /// Whether the line is the beginning of an entry that was cut off.
    pub fn is_cut_off(&self) -> bool {
        match self {
            Self::NotJson(fault) => fault.kind == JsonFaultKind::UnexpectedEnd,
            Self::CutInCharacter(_) => true,
            _ => false,
        }
    }
}

/// Scans lines and reuses its memory from one line to the next.
#[derive(Debug, Default)]
pub struct LineScanner {
    facets: EntryFacets,
}

impl LineScanner {
    /// Scans one line without its line end. On success [`LineScanner::facets`] holds its facets.
    ///
    /// # Errors
    /// Fails if the line is not one JSON object in UTF-8, or is 4 GiB or longer; the damage says where.
    pub fn scan(&mut self, line: &[u8]) -> Result<&EntryFacets, LineDamage> {
        if u32::try_from(line.len()).is_err() {
            return Err(LineDamage::TooLong);
        }
        if simdutf8::basic::from_utf8(line).is_err() {
            return Err(invalid_utf8(line));
        }
        self.facets.clear();
        let mut cursor = JsonCursor::new(line);
        match cursor.peek() {
            Ok(JsonKind::Object) => {}
            Ok(_) => {
                let whole = cursor.skip().and_then(|()| cursor.end());
                return Err(whole.map_or_else(LineDamage::NotJson, |()| LineDamage::NotAnObject));
            }
            Err(fault) => return Err(LineDamage::NotJson(fault)),
        }
        entry(&mut cursor, line, &mut self.facets).map_err(LineDamage::NotJson)?;
        cursor.end().map_err(LineDamage::TrailingGarbage)?;
        // Only system entries are boundaries; in other entries a field of that name means something else. The type may
        // come after it.
        if self.facets.kind != EntryKind::System {
            self.facets.subtype = Subtype::Other;
        }
        if self.facets.kind == EntryKind::User && self.facets.metadata.is_present() {
            super::reduction::measure_reduced(line, &mut self.facets);
        }
        Ok(&self.facets)
    }

    /// The facets of the line scanned last.
    pub fn facets(&self) -> &EntryFacets {
        &self.facets
    }
}

/// Returns why bytes are not valid UTF-8.
#[cold]
fn invalid_utf8(line: &[u8]) -> LineDamage {
    match std::str::from_utf8(line) {
        Err(error) if error.error_len().is_none() => {
            LineDamage::CutInCharacter(error.valid_up_to())
        }
        Err(error) => LineDamage::InvalidUtf8(error.valid_up_to()),
        Ok(_) => LineDamage::InvalidUtf8(line.len()),
    }
}

fn span(literal: StringLiteral) -> ByteSpan {
    ByteSpan::new(literal.start, literal.end)
}

/// Reads the content of a string value; the span is absent for any other value.
fn text(cursor: &mut JsonCursor<'_>) -> Result<ByteSpan, JsonFault> {
    Ok(cursor.string_or_skip()?.map_or(ByteSpan::ABSENT, span))
}

/// Reads the link to an entry's parent. Only `null` means that there is none: a value of another type names no entry of
/// the file, and its bytes stand for it, so that the entry does not pass for the first of a conversation.
fn parent(cursor: &mut JsonCursor<'_>, line: &[u8]) -> Result<ByteSpan, JsonFault> {
    match cursor.peek()? {
        JsonKind::String | JsonKind::Null => text(cursor),
        _ => Ok(measured(cursor, line)?.0),
    }
}

/// Skips a value; returns its span and the UTF-16 units of its serialized form.
fn measured(cursor: &mut JsonCursor<'_>, line: &[u8]) -> Result<(ByteSpan, usize), JsonFault> {
    let (start, before) = (cursor.position(), cursor.canonical());
    cursor.skip()?;
    let behind = line[..cursor.position()].trim_ascii_end().len();
    Ok((ByteSpan::new(start, behind), cursor.canonical() - before))
}

fn units(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn entry(
    cursor: &mut JsonCursor<'_>,
    line: &[u8],
    facets: &mut EntryFacets,
) -> Result<(), JsonFault> {
    cursor.object(|cursor, key| {
        match key {
            b"uuid" => facets.uuid = text(cursor)?,
            b"parentUuid" => facets.parent = parent(cursor, line)?,
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
            b"compactMetadata" | b"microcompactMetadata" | b"undoMetadata" | b"reducedResults" => {
                facets.metadata = measured(cursor, line)?.0;
            }
            _ => cursor.skip()?,
        }
        Ok(())
    })
}

fn message(
    cursor: &mut JsonCursor<'_>,
    line: &[u8],
    facets: &mut EntryFacets,
) -> Result<(), JsonFault> {
    facets.blocks.clear();
    facets.usage = None;
    if cursor.peek()? != JsonKind::Object {
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
                facets.flags.string_content = cursor.peek()? == JsonKind::String;
                content::content(cursor, line, &mut facets.blocks)?;
            }
            b"stop_reason" => {
                let stop = text(cursor)?.of(line);
                facets.flags.window_exceeded = stop == b"model_context_window_exceeded";
            }
            b"usage" => {
                facets.usage = if cursor.peek()? == JsonKind::Object {
                    Some(Box::new(usage::usage(cursor, line)?))
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

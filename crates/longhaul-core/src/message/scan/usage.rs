//! Reads `message.usage`.

use super::text;
use crate::json::{JsonCursor, JsonFault, JsonKind};
use crate::message::{Iteration, IterationKind, Usage};

impl Usage {
    /// Reads a `usage` object in the API's format. Returns `None` if the text is not such an object.
    pub fn read(json: &[u8]) -> Option<Self> {
        let mut cursor = JsonCursor::new(json);
        match cursor.peek() {
            Ok(JsonKind::Object) => usage(&mut cursor, json).ok(),
            _ => None,
        }
    }
}

pub(super) fn usage(cursor: &mut JsonCursor<'_>, line: &[u8]) -> Result<Usage, JsonFault> {
    let mut counts = UsageCounts::default();
    let mut iterations = Vec::new();
    cursor.object(|cursor, key| match key {
        b"iterations" if cursor.peek()? == JsonKind::Array => {
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

/// Reads one step of a reply. Steps do not contain steps.
fn iteration(cursor: &mut JsonCursor<'_>, line: &[u8]) -> Result<Option<Iteration>, JsonFault> {
    if cursor.peek()? != JsonKind::Object {
        cursor.skip()?;
        return Ok(None);
    }
    let mut kind = IterationKind::Message;
    let mut counts = UsageCounts::default();
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
struct UsageCounts {
    usage: Usage,
    cache_written: u64,
}

impl UsageCounts {
    fn field(
        &mut self,
        cursor: &mut JsonCursor<'_>,
        line: &[u8],
        key: &[u8],
    ) -> Result<(), JsonFault> {
        let usage = &mut self.usage;
        match key {
            b"input_tokens" => usage.input = count(cursor)?,
            b"output_tokens" => usage.output = count(cursor)?,
            b"cache_read_input_tokens" => usage.cache_read = count(cursor)?,
            b"cache_deleted_input_tokens" => {
                let count = cursor.count_or_skip()?;
                usage.cache_deleted = count.map(|count| count.min(MOST));
            }
            b"cache_creation_input_tokens" => self.cache_written = count(cursor)?,
            b"cache_creation" if cursor.peek()? == JsonKind::Object => {
                cursor.object(|cursor, key| {
                    match key {
                        b"ephemeral_5m_input_tokens" => usage.cache_write_5m = count(cursor)?,
                        b"ephemeral_1h_input_tokens" => usage.cache_write_1h = count(cursor)?,
                        _ => cursor.skip()?,
                    }
                    Ok(())
                })?;
            }
            b"server_tool_use" if cursor.peek()? == JsonKind::Object => {
                cursor.object(|cursor, key| {
                    match key {
                        b"web_search_requests" => usage.web_searches = count(cursor)?,
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

/// Counts are capped, so that sums of hostile files cannot overflow.
const MOST: u64 = 1 << 40;

/// Reads a token count. Any other value counts as zero.
fn count(cursor: &mut JsonCursor<'_>) -> Result<u64, JsonFault> {
    Ok(cursor.count_or_skip()?.unwrap_or(0).min(MOST))
}

//! A part of a content block, as an event of a stream brings it.

use std::borrow::Cow;

use longhaul_core::json::{self, JsonCursor};

use crate::decode_error::DecodeError;

/// A part of a content block.
#[derive(Debug)]
pub(crate) enum BlockDelta<'a> {
    /// More of a string field: its content, still escaped.
    Append {
        field: &'static str,
        content: &'a [u8],
    },
    /// A piece of a tool's input: JSON inside a string, still escaped.
    Input { content: &'a [u8] },
    /// A citation to add to the text's list.
    Citation(&'a [u8]),
    /// Fields to set.
    Set(Vec<(String, &'a [u8])>),
    /// A kind this version does not know.
    Unknown { kind: String },
}

impl<'a> BlockDelta<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut kind = Cow::Borrowed("");
        let mut fields: Vec<(String, &[u8])> = Vec::new();
        let walked = JsonCursor::new(bytes).object(|cursor, key| {
            let value = cursor.raw()?;
            match key {
                b"type" => kind = json::text(value).unwrap_or_default(),
                _ => fields.push((String::from_utf8_lossy(key).into_owned(), value)),
            }
            Ok(())
        });
        if walked.is_err() {
            return Err(DecodeError::malformed("a delta is no object", bytes));
        }
        let value = |name: &str| {
            let field = fields.iter().find(|(key, _)| key == name);
            field.map(|(_, value)| *value)
        };
        let missing = || DecodeError::malformed("a delta lacks its content", bytes);
        let content = |name: &str| value(name).and_then(json::content).ok_or_else(missing);
        Ok(match &*kind {
            "text_delta" => Self::Append {
                field: "text",
                content: content("text")?,
            },
            "thinking_delta" => Self::Append {
                field: "thinking",
                content: content("thinking")?,
            },
            "input_json_delta" => Self::Input {
                content: content("partial_json")?,
            },
            "citations_delta" => Self::Citation(value("citation").ok_or_else(missing)?),
            // Each comes once and whole; of signatures a later one replaces an earlier, as in the official clients.
            "signature_delta" | "compaction_delta" => Self::Set(fields),
            _ => Self::Unknown {
                kind: kind.into_owned(),
            },
        })
    }
}

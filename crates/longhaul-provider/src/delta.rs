//! A part of a content block, as a stream event brings it.

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
    /// A citation to add to the list of the text.
    Citation(&'a [u8]),
    /// Fields to set.
    Set(Vec<(String, &'a [u8])>),
    /// A delta of an unknown kind.
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
            return Err(DecodeError::malformed("a delta is not an object", bytes));
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
            // Each comes once and complete; a later signature replaces an earlier one, as in the official clients.
            "signature_delta" | "compaction_delta" => Self::Set(fields),
            _ => Self::Unknown {
                kind: kind.into_owned(),
            },
        })
    }
}

//! The parts that streamed and whole chat completions have in common, borrowed.

use longhaul_core::json::{self, ObjectReader};

use crate::decode_error::DecodeError;
use crate::error::ErrorResponse;
use crate::raw;

/// Checks that the bytes are one JSON object that does not report an error.
pub(super) fn object(data: &[u8]) -> Result<ObjectReader<'_>, DecodeError> {
    if std::str::from_utf8(data).is_err() {
        return Err(DecodeError::malformed("an event is not UTF-8", data));
    }
    if !raw::is_object(data) {
        return Err(DecodeError::malformed(
            "an event is not a JSON object",
            data,
        ));
    }
    let object = ObjectReader::new(data);
    if object.get("error").is_some_and(|error| error != b"null") {
        return Err(DecodeError::Answer(Box::new(ErrorResponse::from_body(
            data,
        ))));
    }
    Ok(object)
}

/// A `delta` of a chunk, or the `message` of a whole reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChatDelta<'a>(pub(super) ObjectReader<'a>);

impl<'a> ChatDelta<'a> {
    /// The content of a string field, escaped, if it is not empty.
    pub(super) fn content(self, key: &str) -> Option<&'a [u8]> {
        let content = self.0.get(key).and_then(json::content);
        content.filter(|content| !content.is_empty())
    }

    /// Reasoning, which servers of open models send under either name.
    pub(super) fn reasoning(self) -> Option<&'a [u8]> {
        self.content("reasoning_content")
            .or_else(|| self.content("reasoning"))
    }

    /// Text: a string, or the text parts of a list; and a refusal, which replaces it.
    pub(super) fn texts(self) -> Vec<&'a [u8]> {
        let content = self.0.get("content").unwrap_or_default();
        let parts = raw::items(content)
            .into_iter()
            .map(|part| Self(ObjectReader::new(part)));
        let mut texts: Vec<&[u8]> = parts.filter_map(|part| part.content("text")).collect();
        texts.extend(self.content("content"));
        texts.extend(self.content("refusal"));
        texts
    }

    /// The tool calls, or parts of them.
    pub(super) fn calls(self) -> Vec<ToolCallDelta<'a>> {
        let calls = raw::items(self.0.get("tool_calls").unwrap_or_default());
        let objects = calls.into_iter().filter(|call| call.first() == Some(&b'{'));
        objects.map(ToolCallDelta::read).collect()
    }
}

/// A tool call, or a part of one.
#[derive(Debug)]
pub(super) struct ToolCallDelta<'a> {
    pub(super) index: Option<u64>,
    /// A raw string literal, as is the name. Empty ones count as missing.
    pub(super) id: Option<&'a [u8]>,
    pub(super) name: Option<&'a [u8]>,
    pub(super) arguments: Option<&'a [u8]>,
}

impl<'a> ToolCallDelta<'a> {
    fn read(bytes: &'a [u8]) -> Self {
        let call = ObjectReader::new(bytes);
        let function = call.object("function");
        let told = |value: &&[u8]| json::content(value).is_some_and(|content| !content.is_empty());
        Self {
            index: call.count("index"),
            id: call.get("id").filter(told),
            name: function
                .and_then(|function| function.get("name"))
                .filter(told),
            arguments: function.and_then(|function| function.get("arguments")),
        }
    }
}

//! One content block of a reply: JSON with accessors for its fields.

use std::borrow::Cow;

use bytes::Bytes;
use longhaul_core::json::ObjectReader;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The field that holds an input which was not valid JSON.
pub(crate) const INVALID_INPUT: &str = "INVALID_JSON";

/// A content block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyBlock {
    kind: ReplyBlockKind,
    json: Bytes,
    extent: BlockCompleteness,
    unknown_deltas: Vec<Bytes>,
    partial_input: String,
}

/// The kinds of blocks that a host treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplyBlockKind {
    /// Text for the user.
    Text,
    /// Signed reasoning.
    Thinking,
    /// Encrypted reasoning.
    RedactedThinking,
    /// A call of a tool that the host runs.
    ToolUse,
    /// A call of a tool that the server runs.
    ServerToolUse,
    /// The server's summary of the conversation.
    Compaction,
    /// Results of server tools, and any unknown type.
    Other,
}

impl ReplyBlockKind {
    pub(crate) fn from_type(name: &str) -> Self {
        match name {
            "text" => Self::Text,
            "thinking" => Self::Thinking,
            "redacted_thinking" => Self::RedactedThinking,
            "tool_use" => Self::ToolUse,
            "server_tool_use" | "mcp_tool_use" => Self::ServerToolUse,
            "compaction" => Self::Compaction,
            _ => Self::Other,
        }
    }
}

/// Whether all of a block arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockCompleteness {
    /// The whole block arrived.
    Whole,
    /// The stream broke off inside the block. A text is as far as it came; a tool's input is what it began with,
    /// usually `{}`, and the rest is in [`ReplyBlock::partial_input`].
    Open,
}

/// A call of a client-side tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall<'a> {
    /// The call's id.
    pub id: Cow<'a, str>,
    /// The tool's name.
    pub name: Cow<'a, str>,
    /// The tool's input as the model wrote it: the bytes of a JSON object. [`ToolCall::input`] and
    /// [`ToolCall::parse_input`] read it.
    pub input_json: &'a [u8],
}

/// A tool's input does not have the form that the tool expects. The message is meant for the model, which can correct
/// its call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the input of {tool} is not valid: {problem}")]
pub struct ToolInputError {
    /// The tool's name.
    pub tool: String,
    /// What is wrong.
    pub problem: String,
}

impl ToolCall<'_> {
    /// The tool's input. It is null if it cannot be held as a value, as with a number that is too large.
    ///
    /// ```
    /// # use longhaul_provider::Reply;
    /// # use serde_json::json;
    /// # let reply = Reply::builder().tool_call("1", "Read", json!({"path": "a.rs"})).build();
    /// for call in reply.tool_calls() {
    ///     assert_eq!(call.input()["path"], "a.rs");
    /// }
    /// ```
    pub fn input(&self) -> Value {
        serde_json::from_slice(self.input_json).unwrap_or_default()
    }

    /// The tool's input as a type of the host.
    ///
    /// # Errors
    /// Fails if the input is not valid JSON or does not have the type's form.
    pub fn parse_input<T: DeserializeOwned>(&self) -> Result<T, ToolInputError> {
        let wrong = |problem: String| ToolInputError {
            tool: self.name.to_string(),
            problem,
        };
        if ObjectReader::new(self.input_json)
            .get(INVALID_INPUT)
            .is_some()
        {
            return Err(wrong("it is not a JSON object".to_owned()));
        }
        serde_json::from_slice(self.input_json).map_err(|error| wrong(error.to_string()))
    }
}

impl ReplyBlock {
    pub(crate) fn new(json: Bytes, extent: BlockCompleteness) -> Self {
        let kind = ObjectReader::new(&json).string("type").unwrap_or_default();
        Self {
            kind: ReplyBlockKind::from_type(&kind),
            json,
            extent,
            unknown_deltas: Vec::new(),
            partial_input: String::new(),
        }
    }

    pub(crate) fn with_leftovers(
        mut self,
        unknown_deltas: Vec<Bytes>,
        partial_input: String,
    ) -> Self {
        self.unknown_deltas = unknown_deltas;
        self.partial_input = partial_input;
        self
    }

    /// The kind of the block.
    pub fn kind(&self) -> ReplyBlockKind {
        self.kind
    }

    /// The block as JSON, in the format of the Messages API.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    /// Whether the whole block arrived.
    pub fn extent(&self) -> BlockCompleteness {
        self.extent
    }

    /// Deltas of unknown kinds that the stream brought for this block, as JSON; they are not part of
    /// [`ReplyBlock::json`], because the API would reject fields that it does not know.
    pub fn unknown_deltas(&self) -> &[Bytes] {
        &self.unknown_deltas
    }

    /// For a call that broke off: the beginning of its input, which is not valid JSON yet.
    pub fn partial_input(&self) -> &str {
        &self.partial_input
    }

    /// Any field of the block as JSON.
    pub fn field(&self, key: &str) -> Option<&[u8]> {
        ObjectReader::new(&self.json).get(key)
    }

    /// The text of a text block.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        self.string_if(ReplyBlockKind::Text, "text")
    }

    /// The reasoning of a thinking block.
    pub fn thinking(&self) -> Option<Cow<'_, str>> {
        self.string_if(ReplyBlockKind::Thinking, "thinking")
    }

    /// The summary of a compaction block; `None` also if the server failed to make one.
    pub fn compaction(&self) -> Option<Cow<'_, str>> {
        self.string_if(ReplyBlockKind::Compaction, "content")
    }

    /// The call of a tool-use block, once it is complete.
    pub fn tool_call(&self) -> Option<ToolCall<'_>> {
        if self.kind != ReplyBlockKind::ToolUse || self.extent == BlockCompleteness::Open {
            return None;
        }
        let fields = ObjectReader::new(&self.json);
        Some(ToolCall {
            id: fields.string("id").unwrap_or_default(),
            name: fields.string("name").unwrap_or_default(),
            input_json: fields.get("input").unwrap_or(b"{}"),
        })
    }

    fn string_if(&self, kind: ReplyBlockKind, key: &str) -> Option<Cow<'_, str>> {
        (self.kind == kind)
            .then(|| ObjectReader::new(&self.json).string(key))
            .flatten()
    }
}

//! Content blocks (M2), as ranges and sizes.

use super::ByteSpan;

/// The kinds of content block that decisions distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum BlockKind {
    /// Text; also a message whose content is a plain string.
    Text,
    /// A picture.
    Image,
    /// A document.
    Document,
    /// Reasoning, signed.
    Thinking,
    /// Reasoning, encrypted.
    RedactedThinking,
    /// A call of a client-side tool.
    ToolUse,
    /// The answer to such a call.
    ToolResult,
    /// Server tools' blocks and any type unknown to us.
    #[default]
    Other,
}

impl BlockKind {
    pub(crate) fn from_type(name: &[u8]) -> Self {
        match name {
            b"text" => Self::Text,
            b"image" => Self::Image,
            b"document" => Self::Document,
            b"thinking" => Self::Thinking,
            b"redacted_thinking" => Self::RedactedThinking,
            b"tool_use" => Self::ToolUse,
            b"tool_result" => Self::ToolResult,
            _ => Self::Other,
        }
    }

    /// Whether a model writes it for others to read: text, or a call of a client's tool.
    pub(crate) fn is_visible_output(self) -> bool {
        matches!(self, Self::Text | Self::ToolUse)
    }

    /// Whether this is reasoning, plain or encrypted.
    pub fn is_thinking(self) -> bool {
        matches!(self, Self::Thinking | Self::RedactedThinking)
    }
}

/// One content block of a message, by where it lies and how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryBlock {
    /// What it is.
    pub kind: BlockKind,
    /// Whether this lies inside the content of the tool result before it in the list.
    pub inner: bool,
    /// For a tool result: its content is a list, whose blocks follow in the list, flagged `inner`.
    pub has_inner: bool,
    /// For text, and a tool result's string: nothing but white space.
    pub blank: bool,
    /// For a tool result: marked as an error.
    pub is_error: bool,
    /// The block's JSON.
    pub span: ByteSpan,
    /// Content of the id literal: a call's `id`, a result's `tool_use_id`.
    pub id: ByteSpan,
    /// Content of a call's `name` literal.
    pub name: ByteSpan,
    /// A call's `input`, a result's `content`, a text's literal: the JSON value.
    pub body: ByteSpan,
    /// UTF-16 units that count for an estimate (T2): of the decoded text of a text block or of a result's string;
    /// of name and serialised input of a call; of the serialised block for all else.
    pub units: u32,
}

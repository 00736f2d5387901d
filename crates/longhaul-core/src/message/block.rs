//! Content blocks (M2), as byte ranges and sizes.

use super::ByteSpan;

/// The kinds of content block that the engine distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[non_exhaustive]
pub enum BlockKind {
    /// Text, including a message whose content is a plain string.
    Text,
    /// A picture.
    Image,
    /// A document.
    Document,
    /// Signed reasoning.
    Thinking,
    /// Encrypted reasoning.
    RedactedThinking,
    /// A call of a client-side tool.
    ToolUse,
    /// The result of such a call.
    ToolResult,
    /// A server tool's block, or any type unknown to us.
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

    /// Whether a model writes this for others to read: text, or a call of a client-side tool.
    pub(crate) fn is_visible_output(self) -> bool {
        matches!(self, Self::Text | Self::ToolUse)
    }

    /// Whether this is reasoning, plain or encrypted.
    pub fn is_thinking(self) -> bool {
        matches!(self, Self::Thinking | Self::RedactedThinking)
    }
}

/// One content block of a message, by its position and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryBlock {
    /// The kind of the block.
    pub kind: BlockKind,
    /// Whether the block lies inside the content of the tool result before it in the list.
    pub inner: bool,
    /// For a tool result: whether its content is a list that is sent, whose blocks follow in this list, flagged `inner`.
    pub has_inner: bool,
    /// For text and for a tool result's string: whether it is empty or only white space.
    pub blank: bool,
    /// For a tool result: whether it is marked as an error.
    pub is_error: bool,
    /// The block's JSON.
    pub span: ByteSpan,
    /// The content of the id literal: a call's `id`, a result's `tool_use_id`.
    pub id: ByteSpan,
    /// The content of a call's `name` literal.
    pub name: ByteSpan,
    /// The block's main JSON value: a call's `input`, a result's `content`, a text's literal.
    pub body: ByteSpan,
    /// The UTF-16 units that count for an estimate (T2): those of the decoded text for a text block or a result's
    /// string, those of name and serialized input for a call, those of the serialized block for anything else. For a
    /// result that is sent in a smaller form, those of that form.
    pub units: u32,
}

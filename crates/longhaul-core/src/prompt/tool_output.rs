//! The result of a tool call, as a host provides it and as the model reads it.

use serde_json::{Value, json};

/// The result of one tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The id of the call.
    pub tool_use_id: String,
    /// The content: a string or a list of blocks.
    pub content: Value,
    /// Whether the call failed.
    pub is_error: bool,
}

impl ToolOutput {
    /// Creates a result that is a text.
    pub fn text(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content: Value::String(text.into()),
            is_error: false,
        }
    }

    /// Creates the result of a call that failed. The text tells the model why, and best what to do instead.
    pub fn error(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(tool_use_id, text)
        }
    }

    /// Returns the block that the model reads.
    pub(crate) fn to_block(&self) -> Value {
        let mut block = json!({
            "type": "tool_result",
            "tool_use_id": self.tool_use_id,
            "content": self.content,
        });
        if self.is_error {
            block["is_error"] = Value::Bool(true);
        }
        block
    }
}

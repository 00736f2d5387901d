//! What a tool returns to the model.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// The content of a tool's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolContent(Value);

impl ToolContent {
    /// A value, as JSON text.
    ///
    /// # Errors
    /// If the value cannot be written as JSON.
    pub fn json(value: &impl Serialize) -> Result<Self, ToolError> {
        Ok(serde_json::to_string(value)?.into())
    }

    /// Blocks in the format of the Messages API, such as images.
    pub fn blocks(blocks: Vec<Value>) -> Self {
        Self(Value::Array(blocks))
    }

    pub(super) fn into_value(self) -> Value {
        self.0
    }
}

impl From<String> for ToolContent {
    fn from(text: String) -> Self {
        Self(Value::String(text))
    }
}

impl From<&str> for ToolContent {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Why a call failed, in words for the model. Any error becomes one by `?`.
///
/// Like other catch-all errors it is not itself a [`std::error::Error`], so that it can be made from all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError(String);

impl ToolError {
    /// An error with this message. It should tell the model what to do instead.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Self(message)
    }
}

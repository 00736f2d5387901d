//! What the user says: words, and maybe pictures.

use serde_json::{Value, json};

/// A prompt.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserPrompt {
    /// The words.
    pub text: String,
    /// Further blocks in the API's shape: pictures, documents.
    pub blocks: Vec<Value>,
    /// Attachments beside it, in the transcript's shape: files that were mentioned, for example.
    pub attachments: Vec<Value>,
}

impl UserPrompt {
    /// Words alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The content of its message.
    pub(crate) fn content(&self) -> Value {
        if self.blocks.is_empty() {
            return Value::String(self.text.clone());
        }
        let mut blocks = self.blocks.clone();
        if !self.text.trim().is_empty() {
            blocks.push(json!({"type": "text", "text": self.text}));
        }
        Value::Array(blocks)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.blocks.is_empty()
    }
}

impl From<&str> for UserPrompt {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for UserPrompt {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

//! A prompt of the user: text, and maybe pictures.

use serde_json::{Value, json};

use crate::typed_text::typed_command;

/// A prompt of the user.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserPrompt {
    /// The text of the prompt.
    pub text: String,
    /// The command that the text stands for, as it was typed, if the text is not the user's own.
    pub typed: Option<String>,
    /// Further blocks in the API's shape: pictures, documents.
    pub blocks: Vec<Value>,
    /// What the model should read with the prompt although the user did not write it: text of a server.
    pub notes: Vec<String>,
    /// Attachments that go with the prompt, in the transcript's shape: mentioned files, for example.
    pub attachments: Vec<Value>,
}

impl UserPrompt {
    /// A prompt that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The content of the prompt's message.
    pub(crate) fn content(&self) -> Value {
        let typed = self.typed.as_deref().map(typed_command);
        let text = format!("{}{}", self.text, typed.unwrap_or_default());
        if self.blocks.is_empty() {
            return Value::String(text);
        }
        let mut blocks = Vec::with_capacity(self.blocks.len() + 1);
        // The order in which Claude Code writes them.
        if !self.text.trim().is_empty() {
            blocks.push(json!({"type": "text", "text": text}));
        }
        blocks.extend(self.blocks.iter().cloned());
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

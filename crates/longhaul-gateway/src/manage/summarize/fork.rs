//! The question that is appended to the client's own messages (F7): everything before it is in the provider's cache.

use bytes::Bytes;
use longhaul_core::summary::{SummaryInstructions, SummaryPromptVariant, prompt};
use longhaul_provider::Dialect;
use serde_json::json;

/// The element of `messages` that asks for a summary of everything before it, and forbids tools.
pub fn fork_message(dialect: Dialect, instructions: Option<&str>) -> Bytes {
    let instructions = SummaryInstructions {
        memory_file: instructions.unwrap_or_default(),
        ..SummaryInstructions::default()
    };
    let text = prompt(SummaryPromptVariant::Whole, &instructions);
    user_element(dialect, &text)
}

/// An element of `messages` with this text from the user.
pub(in crate::manage) fn user_element(dialect: Dialect, text: &str) -> Bytes {
    let element = match dialect {
        Dialect::Anthropic => json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        Dialect::OpenAi => json!({"role": "user", "content": text}),
    };
    element.to_string().into()
}

//! Turns a draft into the API's message.

use serde_json::{Value, json};

use super::{ApiIds, SimStopReason, TruncatedDraft};
use crate::model::DraftBlock;

/// The fields of a message besides its content.
#[derive(Debug, Clone)]
pub(crate) struct MessageEnvelope<'a> {
    /// The field `id`.
    pub id: &'a str,
    /// The field `model`, as resolved.
    pub model: &'a str,
    /// The field `usage`.
    pub usage: Value,
    /// Fields that only some replies have: `context_management`, `diagnostics`, `input_transformations` …
    pub extra: Vec<(&'static str, Value)>,
    /// Whether thinking is shown.
    pub display: ThinkingDisplay,
}

/// The parameter `thinking.display`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ThinkingDisplay {
    /// Thinking is shown.
    #[default]
    Shown,
    /// Thinking is left out; only its signature is sent.
    Omitted,
}

/// Builds the message of a reply. `first` are blocks before the draft; `sign` signs thinking in the form in which it is
/// shown, given all content before it.
pub(crate) fn build_message(
    cut: &TruncatedDraft,
    first: Vec<Value>,
    dressing: MessageEnvelope<'_>,
    ids: &mut ApiIds,
    sign: &mut dyn FnMut(&str, &[Value]) -> String,
) -> Value {
    let mut content = first;
    for block in &cut.content {
        let block = match block {
            DraftBlock::Thinking(text) => {
                let shown = match dressing.display {
                    ThinkingDisplay::Shown => text.as_str(),
                    ThinkingDisplay::Omitted => "",
                };
                let signature = sign(shown, &content);
                json!({ "type": "thinking", "thinking": shown, "signature": signature })
            }
            DraftBlock::Text(text) => json!({ "type": "text", "text": text }),
            DraftBlock::ToolUse { name, input } => {
                json!({ "type": "tool_use", "id": ids.tool_use(), "name": name, "input": input })
            }
            DraftBlock::Cited { text, citations } => {
                json!({ "type": "text", "text": text, "citations": citations })
            }
            DraftBlock::Server(block) => block.clone(),
        };
        content.push(block);
    }
    let sequence = match &cut.stop {
        SimStopReason::StopSequence(sequence) => json!(sequence),
        _ => Value::Null,
    };
    let details = match cut.stop {
        SimStopReason::Refusal => {
            json!({ "type": "refusal", "category": null, "explanation": null })
        }
        _ => Value::Null,
    };
    let mut message = json!({
        "id": dressing.id,
        "type": "message",
        "role": "assistant",
        "model": dressing.model,
        "content": content,
        "stop_reason": cut.stop.name(),
        "stop_sequence": sequence,
        "stop_details": details,
        "usage": dressing.usage,
        "container": null,
    });
    for (name, value) in dressing.extra {
        message[name] = value;
    }
    message
}

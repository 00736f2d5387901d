//! Translates a whole message to a chat completion.

use serde_json::{Map, Value, json};

/// What a completion needs and the message does not contain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CompletionOrigin<'a> {
    /// The model that the client asked for.
    pub model: &'a str,
    /// The creation time in seconds since 1970.
    pub created: i64,
}

/// The body of an answer.
pub(crate) fn completion(message: &Value, origin: CompletionOrigin<'_>) -> Value {
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let text: String = texts.filter_map(|block| block["text"].as_str()).collect();
    let calls: Vec<Value> = blocks
        .iter()
        .filter(|block| block["type"] == "tool_use")
        .map(|block| {
            json!({
                "id": block["id"],
                "type": "function",
                "function": { "name": block["name"], "arguments": block["input"].to_string() },
            })
        })
        .collect();
    let mut said = Map::new();
    said.insert("role".to_owned(), json!("assistant"));
    let silent = text.is_empty() && !calls.is_empty();
    let content = if silent { Value::Null } else { json!(text) };
    said.insert("content".to_owned(), content);
    said.insert("refusal".to_owned(), Value::Null);
    said.insert("annotations".to_owned(), json!([]));
    if !calls.is_empty() {
        said.insert("tool_calls".to_owned(), calls.into());
    }
    json!({
        "id": completion_id(&message["id"]),
        "object": "chat.completion",
        "created": origin.created,
        "model": origin.model,
        "choices": [{
            "index": 0,
            "message": said,
            "logprobs": null,
            "finish_reason": finish_reason(&message["stop_reason"]),
        }],
        "usage": usage(&message["usage"]),
        "service_tier": "default",
        "system_fingerprint": null,
    })
}

/// Turns `msg_…` into `chatcmpl-…`.
pub(super) fn completion_id(message: &Value) -> String {
    let id = message.as_str().unwrap_or_default();
    format!("chatcmpl-{}", id.strip_prefix("msg_").unwrap_or(id))
}

pub(super) fn finish_reason(stop_reason: &Value) -> &'static str {
    match stop_reason.as_str() {
        Some("tool_use") => "tool_calls",
        Some("max_tokens" | "model_context_window_exceeded") => "length",
        Some("refusal") => "content_filter",
        _ => "stop",
    }
}

/// The usage; its prompt includes the tokens read from the cache.
pub(super) fn usage(usage: &Value) -> Value {
    let count = |field: &str| usage[field].as_u64().unwrap_or(0);
    let cached = count("cache_read_input_tokens");
    let written = count("cache_creation_input_tokens");
    let prompt = count("input_tokens") + cached + written;
    let completion = count("output_tokens");
    let reasoning = usage["output_tokens_details"]["thinking_tokens"].as_u64();
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {
            "cached_tokens": cached,
            "cache_write_tokens": written,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": reasoning.unwrap_or(0),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

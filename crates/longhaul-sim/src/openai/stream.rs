//! Translates the events of a message to chunks of a chat completion.

use serde_json::{Value, json};

use super::reply::{CompletionOrigin, completion_id, finish_reason, usage};
use super::request::Streaming;

/// Turns events into chunks, one by one.
#[derive(Debug, Clone)]
pub(crate) struct CompletionChunks {
    id: String,
    model: String,
    created: i64,
    streaming: Streaming,
    /// The number of calls begun so far.
    calls: u64,
    /// The newest usage; later figures replace earlier ones.
    usage: Value,
}

impl CompletionChunks {
    /// Starts the translation of a stream.
    pub(crate) fn new(origin: CompletionOrigin<'_>, streaming: Streaming) -> Self {
        Self {
            id: String::new(),
            model: origin.model.to_owned(),
            created: origin.created,
            streaming,
            calls: 0,
            usage: json!({}),
        }
    }

    /// The chunks of an event: none, one, or two at the end. After the last comes `[DONE]`, which is not a chunk.
    pub(crate) fn event(&mut self, event: &Value) -> Vec<Value> {
        match event["type"].as_str() {
            Some("message_start") => {
                self.id = completion_id(&event["message"]["id"]);
                self.learn(&event["message"]["usage"]);
                let delta = json!({ "role": "assistant", "content": "", "refusal": null });
                vec![self.chunk(delta, None)]
            }
            Some("content_block_start") => self.begin(&event["content_block"]),
            Some("content_block_delta") => self.delta(&event["delta"]),
            Some("message_delta") => self.end(event),
            _ => Vec::new(),
        }
    }

    fn begin(&mut self, block: &Value) -> Vec<Value> {
        if block["type"] != "tool_use" {
            return Vec::new();
        }
        self.calls += 1;
        let call = json!({
            "index": self.calls - 1,
            "id": block["id"],
            "type": "function",
            "function": { "name": block["name"], "arguments": "" },
        });
        vec![self.chunk(json!({ "tool_calls": [call] }), None)]
    }

    fn delta(&self, delta: &Value) -> Vec<Value> {
        let delta = match delta["type"].as_str() {
            Some("text_delta") => json!({ "content": delta["text"] }),
            Some("input_json_delta") if delta["partial_json"] != "" => {
                let index = self.calls.saturating_sub(1);
                let function = json!({ "arguments": delta["partial_json"] });
                json!({ "tool_calls": [{ "index": index, "function": function }] })
            }
            // Reasoning is not part of this dialect.
            _ => return Vec::new(),
        };
        vec![self.chunk(delta, None)]
    }

    fn end(&mut self, event: &Value) -> Vec<Value> {
        self.learn(&event["usage"]);
        let reason = &event["delta"]["stop_reason"];
        if reason.is_null() {
            return Vec::new();
        }
        let mut chunks = vec![self.chunk(json!({}), Some(finish_reason(reason)))];
        if self.streaming == Streaming::ChunksAndUsage {
            let mut last = self.frame();
            last["choices"] = json!([]);
            last["usage"] = usage(&self.usage);
            chunks.push(last);
        }
        chunks
    }

    fn learn(&mut self, usage: &Value) {
        for (field, value) in usage.as_object().into_iter().flatten() {
            if !value.is_null() {
                self.usage[field] = value.clone();
            }
        }
    }

    fn chunk(&self, delta: Value, finish_reason: Option<&str>) -> Value {
        let mut chunk = self.frame();
        chunk["choices"] = json!([{
            "index": 0,
            "delta": delta,
            "logprobs": null,
            "finish_reason": finish_reason,
        }]);
        if self.streaming == Streaming::ChunksAndUsage {
            chunk["usage"] = Value::Null;
        }
        chunk
    }

    fn frame(&self) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "service_tier": "default",
            "system_fingerprint": null,
        })
    }
}

//! Streams of chat completions as the client sees them: one message with one id, its calls numbered through without
//! those of the tool.

use longhaul_core::json::ObjectReader;
use longhaul_provider::sse::SseEvent;
use serde_json::Value;

use super::reply_ending::{StopChange, StreamEnding, write_event};

/// The data of the last event.
const DONE: &[u8] = b"[DONE]";

/// Rewrites the streams of one request.
#[derive(Debug)]
pub(crate) struct ChatRewriter {
    tool: String,
    /// How many replies came before the current one.
    replies: usize,
    /// The id of the first reply, which is the client's.
    id: Option<String>,
    /// The indexes of the tool's calls in the current reply.
    hidden: Vec<u64>,
    /// The end of the current reply.
    held: Vec<Value>,
    is_done: bool,
}

impl ChatRewriter {
    pub(super) fn new(tool: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            replies: 0,
            id: None,
            hidden: Vec::new(),
            held: Vec::new(),
            is_done: false,
        }
    }

    pub(super) fn event(&mut self, event: SseEvent<'_>, out: &mut Vec<u8>) {
        if event.data.trim_ascii() == DONE {
            self.is_done = true;
            return;
        }
        let chunk = serde_json::from_slice::<Value>(event.data).ok();
        let Some(mut chunk) = chunk.filter(Value::is_object) else {
            return write_event(event.name, event.data, out);
        };
        if self.id.is_none() {
            self.id = ObjectReader::new(event.data).string("id").map(Into::into);
        }
        let has_choices = chunk["choices"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        let ends = has_choices && !chunk["choices"][0]["finish_reason"].is_null();
        let was_changed = self.change(&mut chunk);
        if ends && says_something(&chunk) {
            // Some servers send the last words together with the end; only the end has to wait.
            let mut words = chunk.clone();
            if let Some(reason) = words.pointer_mut("/choices/0/finish_reason") {
                *reason = Value::Null;
            }
            if let Some(usage) = words.get_mut("usage") {
                *usage = Value::Null;
            }
            write_event(event.name, words.to_string().as_bytes(), out);
            if let Some(delta) = chunk.pointer_mut("/choices/0/delta") {
                *delta = Value::Object(serde_json::Map::new());
            }
        }
        if ends || (!has_choices && chunk["usage"].is_object()) {
            self.held.push(chunk);
        } else if !was_changed {
            write_event(event.name, event.data, out);
        } else if says_something(&chunk) {
            write_event(event.name, chunk.to_string().as_bytes(), out);
        }
    }

    pub(super) fn another_reply(&mut self) {
        self.replies += 1;
        self.hidden.clear();
        self.held.clear();
        self.is_done = false;
    }

    pub(super) fn end(&mut self, ending: StreamEnding<'_>, out: &mut Vec<u8>) {
        for mut chunk in std::mem::take(&mut self.held) {
            if ending.stop == StopChange::TurnEnded
                && let Some(reason) = chunk.pointer_mut("/choices/0/finish_reason")
            {
                *reason = Value::from("stop");
            }
            if self.replies > 0 {
                set_output(&mut chunk, ending.output);
            }
            write_event(b"message", chunk.to_string().as_bytes(), out);
        }
        if self.is_done {
            write_event(b"message", DONE, out);
        }
    }

    /// Removes what the client must not see. Returns whether anything changed.
    fn change(&mut self, chunk: &mut Value) -> bool {
        let mut was_changed = false;
        if self.replies > 0 {
            if let (Some(id), Some(own)) = (&self.id, chunk.get_mut("id")) {
                *own = Value::from(id.as_str());
            }
            was_changed = true;
        }
        let delta = chunk
            .pointer_mut("/choices/0/delta")
            .and_then(Value::as_object_mut);
        let Some(delta) = delta else {
            return was_changed;
        };
        if self.replies > 0 {
            // The client's message has its role already; clients would append it.
            delta.remove("role");
        }
        let Some(calls) = delta.get_mut("tool_calls").and_then(Value::as_array_mut) else {
            return was_changed;
        };
        calls.retain_mut(|call| {
            let index = call["index"].as_u64().unwrap_or(0);
            if call.pointer("/function/name").and_then(Value::as_str) == Some(&self.tool) {
                self.hidden.push(index);
            }
            if self.hidden.contains(&index) {
                return false;
            }
            let before = self.hidden.iter().filter(|one| **one < index).count() as u64;
            if let Some(own) = call.get_mut("index").filter(|_| before > 0) {
                *own = Value::from(index - before);
            }
            true
        });
        if calls.is_empty() {
            delta.remove("tool_calls");
        }
        was_changed || !self.hidden.is_empty()
    }
}

/// Whether anything is left of a chunk for the client.
fn says_something(chunk: &Value) -> bool {
    let delta = chunk.pointer("/choices/0/delta").and_then(Value::as_object);
    delta.is_none_or(|delta| {
        delta.values().any(|value| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            _ => true,
        })
    })
}

/// Sets the output of a usage, where there is one, and the total with it.
pub(super) fn set_output(completion: &mut Value, output: u64) {
    let Some(usage) = completion.get_mut("usage").and_then(Value::as_object_mut) else {
        return;
    };
    usage.insert("completion_tokens".to_owned(), Value::from(output));
    if let Some(input) = usage.get("prompt_tokens").and_then(Value::as_u64) {
        usage.insert("total_tokens".to_owned(), Value::from(input + output));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_provider::Reply;
    use serde_json::json;

    fn events(rewriter: &mut ChatRewriter, chunks: &[Value]) -> String {
        let mut out = Vec::new();
        for chunk in chunks {
            let data = chunk.to_string();
            let event = SseEvent {
                name: b"message",
                data: data.as_bytes(),
            };
            rewriter.event(event, &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    fn chunk(delta: &Value, finish: &Value) -> Value {
        json!({"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    }

    #[test]
    fn last_words_that_come_with_the_end_are_not_held_back_or_lost() {
        let mut rewriter = ChatRewriter::new("recall");
        let call = json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "recall", "arguments": ""}}]});
        let shown = events(
            &mut rewriter,
            &[
                chunk(&call, &Value::Null),
                chunk(&json!({"content": "Let me look."}), &json!("tool_calls")),
            ],
        );
        assert!(
            shown.contains("Let me look.") && !shown.contains("recall"),
            "{shown}"
        );
        assert!(!shown.contains("\"tool_calls\""), "the end waits: {shown}");
        rewriter.another_reply();
        let second = json!({"id": "c2", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "It is 7."}, "finish_reason": "stop"}]});
        let shown = events(&mut rewriter, &[second]);
        assert!(
            shown.contains("It is 7.") && shown.contains("c1"),
            "{shown}"
        );
        assert!(!shown.contains("assistant"), "{shown}");
        let mut out = Vec::new();
        let ending = StreamEnding {
            reply: &Reply::from_text("It is 7."),
            output: 5,
            stop: StopChange::AsTold,
        };
        rewriter.end(ending, &mut out);
        let end = String::from_utf8(out).unwrap();
        assert!(
            end.contains("\"finish_reason\":\"stop\"") && !end.contains("It is 7."),
            "{end}"
        );
    }
}

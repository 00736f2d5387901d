//! Turns a message into the events of a stream (API-FACTS §3.4).

use serde_json::{Value, json};

use crate::call::VirtualMillis;

/// The number of characters in a delta.
const PIECE: usize = 24;

/// When a stream begins and ends.
#[derive(Debug, Clone, Copy)]
pub struct StreamTiming {
    /// The time of the first event.
    pub first_byte: VirtualMillis,
    /// The time of the last event.
    pub ended: VirtualMillis,
}

/// An event and its time.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedEvent {
    /// The name of the event, which is also its `type`.
    pub name: &'static str,
    /// The data of the event.
    pub data: Value,
    /// The time at which the event is sent.
    pub at: VirtualMillis,
}

impl TimedEvent {
    /// The event in its form on the wire.
    pub fn to_sse(&self) -> String {
        format!("event: {}\ndata: {}\n\n", self.name, self.data)
    }
}

/// Turns a message into events. `begun` is the usage at its beginning, if it is not that of the whole message.
pub fn events(message: &Value, begun: Option<&Value>, pacing: StreamTiming) -> Vec<TimedEvent> {
    let mut list = vec![start(message, begun)];
    let content = message.get("content").and_then(Value::as_array);
    for (index, block) in content.into_iter().flatten().enumerate() {
        let (empty, deltas) = block_events(block);
        list.push((
            "content_block_start",
            json!({ "type": "content_block_start", "index": index, "content_block": empty }),
        ));
        if index == 0 {
            list.push(("ping", json!({ "type": "ping" })));
        }
        for delta in deltas {
            list.push((
                "content_block_delta",
                json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ));
        }
        list.push((
            "content_block_stop",
            json!({ "type": "content_block_stop", "index": index }),
        ));
    }
    list.push(("message_delta", delta(message)));
    list.push(("message_stop", json!({ "type": "message_stop" })));
    let last = (list.len() - 1).max(1) as u64;
    let span = pacing.ended.0.saturating_sub(pacing.first_byte.0);
    let timed = list
        .into_iter()
        .zip(0_u64..)
        .map(|((name, data), nth)| TimedEvent {
            name,
            data,
            at: VirtualMillis(pacing.first_byte.0 + span * nth / last),
        });
    timed.collect()
}

/// The message before any content.
fn start(message: &Value, usage: Option<&Value>) -> (&'static str, Value) {
    let mut begun = message.clone();
    if let Some(usage) = usage {
        begun["usage"] = usage.clone();
    }
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["stop_sequence"] = Value::Null;
    begun["stop_details"] = Value::Null;
    if let Some(fields) = begun.as_object_mut() {
        // Clearing is reported at the end.
        fields.remove("context_management");
    }
    if let Some(usage) = begun.get_mut("usage").and_then(Value::as_object_mut) {
        let said = usage
            .get("output_tokens")
            .and_then(Value::as_u64)
            .unwrap_or_default();
        usage.insert("output_tokens".into(), json!(said.min(1)));
        usage.remove("output_tokens_details");
        usage.remove("iterations");
    }
    (
        "message_start",
        json!({ "type": "message_start", "message": begun }),
    )
}

/// How the message ended, with the usage since the beginning.
fn delta(message: &Value) -> Value {
    let field = |name: &str| message.get(name).cloned().unwrap_or_default();
    let cumulative = [
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "cache_deleted_input_tokens",
        "output_tokens",
        "output_tokens_details",
        "server_tool_use",
        "iterations",
    ];
    let usage = field("usage");
    let counted: serde_json::Map<String, Value> = cumulative
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), usage.get(name)?.clone())))
        .collect();
    let mut delta = json!({
        "type": "message_delta",
        "delta": {
            "stop_reason": field("stop_reason"),
            "stop_sequence": field("stop_sequence"),
            "stop_details": field("stop_details"),
            "container": field("container"),
        },
        "usage": counted,
    });
    if let Some(applied) = message.get("context_management") {
        delta["context_management"] = applied.clone();
    }
    delta
}

/// The start of a block, and its deltas.
fn block_events(block: &Value) -> (Value, Vec<Value>) {
    let text = |field: &str| block.get(field).and_then(Value::as_str).unwrap_or_default();
    let mut empty = block.clone();
    let deltas = match text("type") {
        "text" => {
            empty["text"] = json!("");
            let pieces = pieces(text("text"));
            let texts = pieces.map(|piece| json!({ "type": "text_delta", "text": piece }));
            let citations = block.get("citations").and_then(Value::as_array);
            if citations.is_some() {
                empty["citations"] = json!([]);
            }
            let cited = citations.into_iter().flatten();
            cited
                .map(|citation| json!({ "type": "citations_delta", "citation": citation }))
                .chain(texts)
                .collect()
        }
        "thinking" => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            let pieces = pieces(text("thinking"));
            let signature = json!({ "type": "signature_delta", "signature": text("signature") });
            pieces
                .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
                .chain([signature])
                .collect()
        }
        "tool_use" | "server_tool_use" => {
            empty["input"] = json!({});
            let input = block.get("input").map(Value::to_string).unwrap_or_default();
            let first = [json!({ "type": "input_json_delta", "partial_json": "" })];
            let rest = pieces(&input);
            let rest =
                rest.map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
            first.into_iter().chain(rest).collect()
        }
        "compaction" => {
            empty["content"] = Value::Null;
            let mut delta = block.clone();
            delta["type"] = json!("compaction_delta");
            for sealed in ["encrypted_content", "signature", "tool_changes"] {
                if let (Some(fields), true) = (empty.as_object_mut(), block.get(sealed).is_some()) {
                    fields.insert(sealed.into(), Value::Null);
                }
            }
            vec![delta]
        }
        _ => Vec::new(),
    };
    (empty, deltas)
}

/// Splits a text into pieces of a few words.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let whole = PIECE.min(rest.len());
        let end = (whole..=rest.len()).find(|&end| rest.is_char_boundary(end))?;
        let (piece, behind) = rest.split_at_checked(end)?;
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

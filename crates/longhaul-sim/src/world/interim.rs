//! A reader without rules, until `Request::read` is there.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::call::ApiError;
use crate::request::{Block, Message, Request, Role, Tool, Ttl};

pub(super) fn read(body: &[u8]) -> Result<Request, ApiError> {
    let body: Value = serde_json::from_slice(body).map_err(|e| ApiError::invalid(e.to_string()))?;
    let Value::Object(mut fields) = body else {
        return Err(ApiError::invalid("not an object"));
    };
    let mut take = |name: &str| fields.remove(name).unwrap_or_default();
    let model = take("model").as_str().unwrap_or_default().to_owned();
    let max_tokens = take("max_tokens").as_u64();
    let stream = take("stream").as_bool().unwrap_or_default();
    let system = blocks(take("system"));
    let tools = take("tools").as_array().cloned().unwrap_or_default();
    let messages = take("messages").as_array().cloned().unwrap_or_default();
    let automatic_cache = ttl(&take("cache_control"));
    Ok(Request {
        model,
        max_tokens,
        stream,
        system,
        tools: tools.into_iter().map(tool).collect(),
        messages: messages
            .into_iter()
            .map(|message| Message {
                role: match message["role"].as_str() {
                    Some("assistant") => Role::Assistant,
                    Some("system") => Role::System,
                    _ => Role::User,
                },
                content: blocks(message["content"].clone()),
            })
            .collect(),
        automatic_cache,
        fields,
    })
}

fn ttl(control: &Value) -> Option<Ttl> {
    (!control.is_null()).then(|| match control["ttl"].as_str() {
        Some("1h") => Ttl::OneHour,
        _ => Ttl::FiveMinutes,
    })
}

fn blocks(value: Value) -> Vec<Block> {
    match value {
        Value::String(text) => vec![block(serde_json::json!({ "type": "text", "text": text }))],
        Value::Array(items) => items.into_iter().map(block).collect(),
        _ => Vec::new(),
    }
}

fn without_marker(value: Value) -> (Arc<str>, Map<String, Value>, Option<Ttl>) {
    let raw = Arc::from(value.to_string());
    let Value::Object(mut fields) = value else {
        return (raw, Map::new(), None);
    };
    let marker = ttl(&fields.remove("cache_control").unwrap_or_default());
    (raw, fields, marker)
}

fn block(value: Value) -> Block {
    let (raw, fields, marker) = without_marker(value);
    Block {
        kind: fields
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        fields,
        raw,
        marker,
    }
}

fn tool(value: Value) -> Tool {
    let (raw, fields, marker) = without_marker(value);
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    Tool {
        name: text("name").unwrap_or_default(),
        kind: text("type"),
        deferred: fields
            .get("defer_loading")
            .and_then(Value::as_bool)
            .unwrap_or_default(),
        raw,
        fields,
        marker,
    }
}

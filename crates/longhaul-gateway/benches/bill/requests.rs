//! What the client puts into its requests: ids as it was given them, breakpoints, and everything beside the messages.
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::provider::CLIENTS_MAX_TOKENS;
use crate::route::Between;
use crate::session::{Session, tools};

/// Whether a block is thinking that the client has to send again as it was.
pub(crate) fn is_bound_thinking(block: &Value, binds: bool) -> bool {
    let kind = block["type"].as_str();
    binds && kind.is_some_and(|kind| kind.contains("thinking"))
}

/// A message with the ids that the provider gave to its calls.
pub(crate) fn named(message: &Value, ids: &BTreeMap<String, Value>) -> Value {
    let mut message = message.clone();
    for block in message["content"].as_array_mut().into_iter().flatten() {
        let id = match block["type"].as_str() {
            Some("tool_use") => &mut block["id"],
            Some("tool_result") => &mut block["tool_use_id"],
            _ => continue,
        };
        if let Some(given) = ids.get(&id.to_string()) {
            *id = given.clone();
        }
    }
    message
}

/// A message with a cache breakpoint on its last block.
pub(crate) fn marked(message: &Value) -> String {
    let mut message = message.clone();
    if let Some(block) = message["content"]
        .as_array_mut()
        .and_then(|all| all.last_mut())
    {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    message.to_string()
}

pub(crate) fn marked_if_user(message: &Value) -> String {
    if message["role"] == "user" {
        marked(message)
    } else {
        message.to_string()
    }
}

/// The members of the body besides the messages.
pub(crate) fn beside(session: &Session, model: &str, between: &Between, binds: bool) -> String {
    let words = ["keep ", "rules ", "files ", "tests ", "short "];
    let prompt: String = (0..session.prefix)
        .map(|at| words[at as usize % 5])
        .collect();
    let schema = json!({"type": "object"});
    let tools: Vec<Value> = tools(session)
        .into_iter()
        .map(|name| json!({"name": name, "description": "", "input_schema": schema}))
        .collect();
    let mut body = json!({
        "model": model, "max_tokens": CLIENTS_MAX_TOKENS, "tools": tools,
        "system": [{"type": "text", "text": prompt, "cache_control": {"type": "ephemeral"}}],
    });
    if binds {
        body["thinking"] = json!({"type": "adaptive"});
    }
    match between {
        Between::ProviderClears => {
            body["context_management"] = json!({"edits": [{"type": "clear_tool_uses_20250919"}]});
        }
        Between::ProviderCompacts => {
            body["context_management"] = json!({"edits": [{"type": "compact_20260112"}]});
        }
        _ => {}
    }
    body.to_string().trim_start_matches('{').to_owned()
}

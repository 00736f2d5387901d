//! Compaction of conversations by itself: entries, summaries, clearings, files, splices.

mod attempt;
mod chat;
mod clearing;
mod files;
mod noted;
mod others_words;
mod recorded;
mod splices;
mod summaries;
mod tables;
mod talks;

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::config::Config;
use longhaul_core::models::ModelTable;
use longhaul_gateway::manage::{CompactableConversation, CompactedDraft, CompactorSettings};
use longhaul_provider::Dialect;
use longhaul_sim::call::ApiCall;
use longhaul_sim::request::{Endpoint, MessagesRequest};
use longhaul_sim::validate::validate;
use serde_json::{Value, json};

pub(crate) const MODEL: &str = "claude-opus-5-5";

/// Settings for a window of this size; `None` for the model's own.
pub(crate) fn settings(window: Option<u64>) -> CompactorSettings {
    let mut config = Config::default();
    config.window_cap = window;
    let now = "2026-11-01T12:00:00Z".parse().unwrap();
    CompactorSettings::new(Arc::new(config), Arc::new(ModelTable::builtin()), &[], now)
}

pub(crate) fn talk(dialect: Dialect, elements: &[Value]) -> CompactableConversation {
    CompactableConversation {
        dialect,
        model: MODEL.to_owned(),
        lines: Bytes::new(),
        summary: Vec::new(),
        elements: elements.iter().map(raw).collect(),
        cleared: Vec::new(),
        measured: None,
    }
}

/// The conversation that follows a draft.
pub(crate) fn behind(
    draft: &CompactedDraft,
    dialect: Dialect,
    elements: &[Value],
) -> CompactableConversation {
    CompactableConversation {
        lines: draft.conversation.lines.clone(),
        summary: draft.conversation.summary.clone(),
        ..talk(dialect, elements)
    }
}

pub(crate) fn raw(value: &Value) -> Bytes {
    value.to_string().into()
}

/// What is sent: a draft, and the client's messages after it.
pub(crate) fn sent(draft: &CompactedDraft, more: &[Value]) -> Vec<Value> {
    let parse = |bytes: &Bytes| serde_json::from_slice(bytes).unwrap();
    let ours = draft
        .conversation
        .summary
        .iter()
        .chain(&draft.conversation.elements)
        .map(parse);
    ours.chain(more.iter().cloned()).collect()
}

/// The texts that are sent.
pub(crate) fn text(draft: &CompactedDraft) -> String {
    let mut all = String::new();
    for message in sent(draft, &[]) {
        match &message["content"] {
            Value::String(text) => all.push_str(text),
            blocks => {
                for block in blocks.as_array().unwrap() {
                    all.push_str(block["text"].as_str().unwrap_or_default());
                    all.push('\n');
                }
            }
        }
    }
    all
}

/// Whether the API accepts these messages.
pub(crate) fn accepted(dialect: Dialect, messages: &[Value]) -> Result<(), String> {
    let tools: Vec<Value> = talks::TOOLS
        .iter()
        .map(|name| json!({"name": name, "input_schema": {"type": "object"}}))
        .collect();
    let body = match dialect {
        Dialect::Anthropic => {
            json!({"model": MODEL, "max_tokens": 1000, "tools": tools, "messages": messages})
        }
        Dialect::OpenAi => {
            let body = json!({"model": MODEL, "messages": messages}).to_string();
            let translated = longhaul_sim::openai::translate(body.as_bytes());
            let translated = translated.map_err(|error| format!("{error:?}"))?;
            let mut body: Value = serde_json::from_slice(&translated.body(MODEL)).unwrap();
            body["tools"] = json!(tools);
            body
        }
    };
    let call = ApiCall {
        version: longhaul_sim::request::NEWEST_VERSION.to_owned(),
        ..ApiCall::default()
    };
    let body = body.to_string();
    let request = MessagesRequest::read(
        body.as_bytes(),
        Endpoint::Messages,
        &call.betas,
        &call.version,
    );
    let request = request.map_err(|error| error.message)?;
    let spec = ModelTable::builtin().resolve(MODEL).spec;
    validate(&request, &spec, &call).map_err(|error| error.message)
}

//! The parts of the cache key besides the positions themselves, by level (API-FACTS §1.4).
//!
//! A setting is hashed in at the first level that it invalidates, so it affects every level after it. A setting with
//! its default value is the same as one that is left out.

use std::collections::BTreeSet;

use longhaul_core::xxh3::Xxh3_128;
use serde_json::Value;

use crate::request::MessagesRequest;

/// Betas that no longer change anything, or never changed a prompt.
const WITHOUT_EFFECT: [&str; 4] = [
    "prompt-caching-2024-07-31",
    "extended-cache-ttl-2025-04-11",
    "cache-diagnosis-2026-04-07",
    "message-threads-2026-08-12",
];

/// Features that the content of a request turns on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PromptFeatures {
    /// Whether there is an image anywhere.
    pub images: bool,
    /// Whether a document or search result asks for citations.
    pub citations: bool,
}

/// The key of each level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LevelKeys {
    /// The key at the start: model and betas.
    pub tools: u128,
    /// The key before the system prompt: speed, citations, output format.
    pub system: u128,
    /// The key before the messages: tool choice, images, thinking, effort.
    pub messages: u128,
    /// The features that the content turns on.
    pub features: PromptFeatures,
}

/// The default effort of a model.
fn default_effort(model: &str) -> &'static str {
    match model {
        "claude-opus-5-5" => "medium",
        _ => "high",
    }
}

/// The keys of a request for the model with this id.
pub(crate) fn keys(
    request: &MessagesRequest,
    model: &str,
    betas: &BTreeSet<String>,
    features: PromptFeatures,
) -> LevelKeys {
    LevelKeys {
        tools: tools(model, betas),
        system: system(request, features),
        messages: messages(request, model, features),
        features,
    }
}

fn tools(model: &str, betas: &BTreeSet<String>) -> u128 {
    let mut hash = Xxh3_128::new();
    add(&mut hash, "model", model);
    for beta in betas {
        if !WITHOUT_EFFECT.contains(&beta.as_str()) {
            add(&mut hash, "beta", beta);
        }
    }
    hash.digest()
}

fn system(request: &MessagesRequest, features: PromptFeatures) -> u128 {
    let mut hash = Xxh3_128::new();
    if speed(request) != "standard" {
        add(&mut hash, "speed", speed(request));
    }
    if features.citations {
        add(&mut hash, "citations", "on");
    }
    for format in formats(request) {
        add(&mut hash, "format", &format.to_string());
    }
    hash.digest()
}

fn messages(request: &MessagesRequest, model: &str, features: PromptFeatures) -> u128 {
    let mut hash = Xxh3_128::new();
    add(&mut hash, "tool_choice", &tool_choice(request));
    if features.images {
        add(&mut hash, "images", "some");
    }
    let thinking = |field| at(request, &["thinking", field]);
    for field in ["type", "budget_tokens"] {
        if let Some(value) = thinking(field) {
            add(&mut hash, field, &value.to_string());
        }
    }
    let effort = at(request, &["output_config", "effort"]).and_then(Value::as_str);
    if let Some(effort) = effort.filter(|effort| *effort != default_effort(model)) {
        add(&mut hash, "effort", effort);
    }
    hash.digest()
}

/// The requested output formats: at most one in a valid request.
pub(crate) fn formats(request: &MessagesRequest) -> impl Iterator<Item = &Value> {
    let places: [&[&str]; 2] = [&["output_config", "format"], &["output_format"]];
    places.into_iter().filter_map(|path| at(request, path))
}

/// The field `speed`, or its default.
pub(crate) fn speed(request: &MessagesRequest) -> &str {
    at(request, &["speed"])
        .and_then(Value::as_str)
        .unwrap_or("standard")
}

/// The tool choice in a single form: a request without one has `auto`.
fn tool_choice(request: &MessagesRequest) -> String {
    let choice = |field| at(request, &["tool_choice", field]);
    let kind = choice("type").and_then(Value::as_str).unwrap_or("auto");
    let name = choice("name").and_then(Value::as_str).unwrap_or_default();
    let serial = choice("disable_parallel_tool_use").and_then(Value::as_bool);
    format!("{kind} {name} {}", serial.unwrap_or_default())
}

/// Whether a tool must be called.
pub(crate) fn forces_a_tool(request: &MessagesRequest) -> bool {
    let kind = at(request, &["tool_choice", "type"]).and_then(Value::as_str);
    matches!(kind, Some("any" | "tool"))
}

fn at<'a>(request: &'a MessagesRequest, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let start = request.fields.get(*first)?;
    let found = rest
        .iter()
        .try_fold(start, |value, field| value.get(*field))?;
    (!found.is_null()).then_some(found)
}

fn add(hash: &mut Xxh3_128, name: &str, value: &str) {
    for part in [name, value] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
}

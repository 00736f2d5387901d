//! A Messages API request, read into types. Reading checks shapes and unknown fields; the rules between parts (pairs,
//! markers, models) are checked in `validate/`.

pub mod identity;

use std::sync::Arc;

use serde_json::{Map, Value};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The user, and tools.
    User,
    /// The model.
    Assistant,
    /// The operator, inside the conversation.
    System,
}

/// Lifetime of a cache entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ttl {
    /// Five minutes.
    FiveMinutes,
    /// One hour.
    OneHour,
}

/// One content block: of a message, of `system`, or inside a tool result.
#[derive(Debug, Clone)]
pub struct Block {
    /// `type`.
    pub kind: String,
    /// All fields but `cache_control`.
    pub fields: Map<String, Value>,
    /// The block as it was sent, `cache_control` included. A string content is one text block written out.
    pub raw: Arc<str>,
    /// The lifetime of a cache marker on it.
    pub marker: Option<Ttl>,
}

impl Block {
    /// A field that is a string.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str)
    }
}

/// One message.
#[derive(Debug, Clone)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said. A string content is one text block.
    pub content: Vec<Block>,
}

/// One tool definition.
#[derive(Debug, Clone)]
pub struct Tool {
    /// `name`.
    pub name: String,
    /// `type`; none for client tools without one.
    pub kind: Option<String>,
    /// The definition as it was sent.
    pub raw: Arc<str>,
    /// All fields but `cache_control`.
    pub fields: Map<String, Value>,
    /// `defer_loading`.
    pub deferred: bool,
    /// The lifetime of a cache marker on it.
    pub marker: Option<Ttl>,
}

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    /// `model`.
    pub model: String,
    /// `max_tokens`; none on token counting.
    pub max_tokens: Option<u64>,
    /// `stream`.
    pub stream: bool,
    /// `system`, a string being one text block.
    pub system: Vec<Block>,
    /// `tools`.
    pub tools: Vec<Tool>,
    /// `messages`.
    pub messages: Vec<Message>,
    /// Top-level `cache_control`: automatic caching.
    pub automatic_cache: Option<Ttl>,
    /// Every other top-level field, as sent: tool_choice, thinking, output_config, context_management, compaction,
    /// thread, diagnostics, metadata, stop_sequences, speed, service_tier, temperature …
    pub fields: Map<String, Value>,
}

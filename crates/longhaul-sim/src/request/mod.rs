//! A Messages API request, read into types. Reading checks shapes and unknown fields; the rules between parts (pairs,
//! markers, models) are checked in `validate/`.

mod blocks;
mod content;
pub mod identity;
mod options;
mod params;
mod path;
mod read;
mod shape;
mod tools;
mod wire;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::call::ApiError;

/// The version that took away sampling parameters.
pub const NEWEST_VERSION: &str = "2026-10-21";

/// The beta that a request names to use the simulator's own extension, cache edits.
pub const CACHE_EDITS_BETA: &str = "longhaul-cache-edits-2026-11-15";

/// The versions of the API that are known.
const VERSIONS: [&str; 3] = ["2023-01-01", "2023-06-01", NEWEST_VERSION];

/// Where a request was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// `POST /v1/messages`.
    Messages,
    /// `POST /v1/messages/count_tokens`.
    CountTokens,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApiRole {
    /// The user, and tools.
    User,
    /// The model.
    Assistant,
    /// The operator, inside the conversation.
    System,
}

/// Lifetime of a cache entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CacheLifetime {
    /// Five minutes.
    FiveMinutes,
    /// One hour.
    OneHour,
}

impl CacheLifetime {
    /// As the API writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            CacheLifetime::FiveMinutes => "5m",
            CacheLifetime::OneHour => "1h",
        }
    }

    /// Of a `cache_control` object that was checked.
    pub(crate) fn of(cache_control: &Value) -> CacheLifetime {
        match cache_control.get("ttl").and_then(Value::as_str) {
            Some("1h") => CacheLifetime::OneHour,
            _ => CacheLifetime::FiveMinutes,
        }
    }

    /// Takes the marker out of an object.
    fn taken(fields: &mut Map<String, Value>) -> Option<CacheLifetime> {
        let marker = fields.remove("cache_control")?;
        marker.is_object().then(|| CacheLifetime::of(&marker))
    }
}

/// One content block: of a message, of `system`, or inside a tool result.
#[derive(Debug, Clone)]
pub struct ApiBlock {
    /// `type`.
    pub kind: String,
    /// All fields but `cache_control`.
    pub fields: Map<String, Value>,
    /// The block as it was sent, `cache_control` included. A string content is one text block written out.
    pub raw: Arc<str>,
    /// The lifetime of a cache marker on it.
    pub marker: Option<CacheLifetime>,
}

impl ApiBlock {
    /// A block made here, as of a reply: its text is the value written out. None if it is no object.
    pub fn made(value: Value) -> Option<ApiBlock> {
        let raw = Arc::from(value.to_string());
        ApiBlock::from_parts(value, raw)
    }

    fn from_parts(value: Value, raw: Arc<str>) -> Option<ApiBlock> {
        let Value::Object(mut fields) = value else {
            return None;
        };
        let marker = CacheLifetime::taken(&mut fields);
        let kind = fields
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        Some(ApiBlock {
            kind: kind.to_owned(),
            fields,
            raw,
            marker,
        })
    }

    /// Whether it is thinking, in the open or not.
    pub fn is_thinking(&self) -> bool {
        matches!(self.kind.as_str(), "thinking" | "redacted_thinking")
    }

    /// Whether it is text of white space alone.
    pub fn is_blank_text(&self) -> bool {
        let blank = |text: &str| text.trim().is_empty();
        self.kind == "text" && self.text("text").is_some_and(blank)
    }

    /// A field that is a string.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str)
    }
}

/// One message.
#[derive(Debug, Clone)]
pub struct ApiMessage {
    /// Who speaks.
    pub role: ApiRole,
    /// What is said. A string content is one text block.
    pub content: Vec<ApiBlock>,
}

/// One tool definition.
#[derive(Debug, Clone)]
pub struct ApiTool {
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
    pub marker: Option<CacheLifetime>,
}

/// A request.
#[derive(Debug, Clone)]
pub struct MessagesRequest {
    /// `model`.
    pub model: String,
    /// `max_tokens`; none on token counting.
    pub max_tokens: Option<u64>,
    /// `stream`.
    pub stream: bool,
    /// `system`, a string being one text block.
    pub system: Vec<ApiBlock>,
    /// `tools`.
    pub tools: Vec<ApiTool>,
    /// `messages`.
    pub messages: Vec<ApiMessage>,
    /// Top-level `cache_control`: automatic caching.
    pub automatic_cache: Option<CacheLifetime>,
    /// Every other top-level field, as sent: tool_choice, thinking, output_config, context_management, compaction,
    /// thread, diagnostics, metadata, stop_sequences, speed, service_tier, temperature …
    pub fields: Map<String, Value>,
}

impl MessagesRequest {
    /// Reads a body: its JSON, types, missing and unknown fields. What the parts must be to each other is checked by
    /// [`validate`](crate::validate::validate).
    pub fn read(
        body: &[u8],
        endpoint: Endpoint,
        betas: &BTreeSet<String>,
        version: &str,
    ) -> Result<MessagesRequest, ApiError> {
        read::request(body, endpoint, betas, version)
    }

    /// The `type` of a top-level field that is tagged: `thinking`, `tool_choice`, `thread`.
    pub fn tag(&self, field: &str) -> Option<&str> {
        self.fields.get(field)?.get("type")?.as_str()
    }

    /// A value inside a top-level field, null being none.
    pub fn param(&self, field: &str, name: &str) -> Option<&Value> {
        let value = self.fields.get(field)?.get(name)?;
        (!value.is_null()).then_some(value)
    }
}

fn check_version(version: &str) -> Result<(), ApiError> {
    match version {
        "" => Err(ApiError::invalid("anthropic-version: header is required")),
        known if VERSIONS.contains(&known) => Ok(()),
        other => Err(ApiError::invalid(format!(
            r#"anthropic-version: "{other}" is not a valid version. You must provide a valid version, such as "{}"."#,
            VERSIONS[1]
        ))),
    }
}

//! A Messages API request, read into types. Reading checks shapes and unknown fields; the rules between parts (pairs,
//! breakpoints, models) are checked in `validate/`.

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

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::call::ApiError;

/// The version that removed sampling parameters.
pub const NEWEST_VERSION: &str = "2026-10-21";

/// The beta that a request names to use the simulator's own extension, cache edits.
pub const CACHE_EDITS_BETA: &str = "longhaul-cache-edits-2026-11-15";

/// The known versions of the API.
const VERSIONS: [&str; 3] = ["2023-01-01", "2023-06-01", NEWEST_VERSION];

/// The endpoint that a request was sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// `POST /v1/messages`.
    Messages,
    /// `POST /v1/messages/count_tokens`.
    CountTokens,
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApiRole {
    /// The user, and tools.
    User,
    /// The model.
    Assistant,
    /// The operator, inside the conversation.
    System,
}

/// The lifetime of a cache entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CacheLifetime {
    /// Five minutes.
    FiveMinutes,
    /// One hour.
    OneHour,
}

impl CacheLifetime {
    /// The name that the API uses.
    pub fn as_str(self) -> &'static str {
        match self {
            CacheLifetime::FiveMinutes => "5m",
            CacheLifetime::OneHour => "1h",
        }
    }

    /// Reads the lifetime from a `cache_control` object that was checked.
    pub(crate) fn of(cache_control: &Value) -> CacheLifetime {
        match cache_control.get("ttl").and_then(Value::as_str) {
            Some("1h") => CacheLifetime::OneHour,
            _ => CacheLifetime::FiveMinutes,
        }
    }

    /// Removes the breakpoint from an object and returns its lifetime.
    fn taken(fields: &mut Map<String, Value>) -> Option<CacheLifetime> {
        let marker = fields.remove("cache_control")?;
        marker.is_object().then(|| CacheLifetime::of(&marker))
    }
}

/// One content block: of a message, of `system`, or inside a tool result.
#[derive(Debug, Clone)]
pub struct ApiBlock {
    /// The field `type`.
    pub kind: String,
    /// All fields but `cache_control`.
    pub fields: Map<String, Value>,
    /// The block as it was sent, including `cache_control`. A content string is written out as one text block.
    pub raw: Arc<str>,
    /// The lifetime of the cache breakpoint on the block, if any.
    pub marker: Option<CacheLifetime>,
}

impl ApiBlock {
    /// A block made here, for example for a reply: its text is the serialized value. `None` if the value is not an
    /// object.
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

    /// Whether the block is thinking, readable or redacted.
    pub fn is_thinking(&self) -> bool {
        matches!(self.kind.as_str(), "thinking" | "redacted_thinking")
    }

    /// Whether the block is text that consists of white space only.
    pub(crate) fn is_blank_text(&self) -> bool {
        let blank = |text: &str| text.trim().is_empty();
        self.kind == "text" && self.text("text").is_some_and(blank)
    }

    /// A field of the block, if it is a string.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str)
    }

    /// The text of a tool result that the block is, without pictures and the like.
    pub(crate) fn result_text(&self) -> Cow<'_, str> {
        match self.fields.get("content") {
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(Value::Array(parts)) => {
                let mut texts = parts
                    .iter()
                    .filter_map(|part| part.get("text").and_then(Value::as_str));
                let first = texts.next().unwrap_or("");
                match texts.next() {
                    None => Cow::Borrowed(first),
                    Some(second) => {
                        let mut all = format!("{first}\n{second}");
                        for text in texts {
                            all.push('\n');
                            all.push_str(text);
                        }
                        Cow::Owned(all)
                    }
                }
            }
            _ => Cow::Borrowed(""),
        }
    }
}

/// One message.
#[derive(Debug, Clone)]
pub struct ApiMessage {
    /// The role of the message.
    pub role: ApiRole,
    /// The content. A string counts as one text block.
    pub content: Vec<ApiBlock>,
}

/// One tool definition.
#[derive(Debug, Clone)]
pub struct ApiTool {
    /// The field `name`.
    pub name: String,
    /// The field `type`; `None` for client tools without one.
    pub kind: Option<String>,
    /// The definition as it was sent.
    pub raw: Arc<str>,
    /// All fields but `cache_control`.
    pub fields: Map<String, Value>,
    /// The field `defer_loading`.
    pub deferred: bool,
    /// The lifetime of the cache breakpoint on the tool, if any.
    pub marker: Option<CacheLifetime>,
}

/// A Messages API request.
#[derive(Debug, Clone)]
pub struct MessagesRequest {
    /// The field `model`.
    pub model: String,
    /// The field `max_tokens`; `None` when counting tokens.
    pub max_tokens: Option<u64>,
    /// The field `stream`.
    pub stream: bool,
    /// The field `system`; a string counts as one text block.
    pub system: Vec<ApiBlock>,
    /// The field `tools`.
    pub tools: Vec<ApiTool>,
    /// The field `messages`.
    pub messages: Vec<ApiMessage>,
    /// The lifetime of the top-level `cache_control`, which requests automatic caching.
    pub automatic_cache: Option<CacheLifetime>,
    /// Every other top-level field, as sent: tool_choice, thinking, output_config, context_management, compaction,
    /// thread, diagnostics, metadata, stop_sequences, speed, service_tier, temperature …
    pub fields: Map<String, Value>,
}

impl MessagesRequest {
    /// Reads a body: its JSON, types, missing and unknown fields. [`validate`](crate::validate::validate) checks the
    /// rules between the parts.
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

    /// A value inside a top-level field; null counts as `None`.
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

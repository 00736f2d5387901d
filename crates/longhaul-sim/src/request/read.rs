//! Reads a body into a [`MessagesRequest`]: types, missing and unknown fields. The first problem in the API's order is
//! reported: known fields in their order, messages by position, then unknown fields.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::blocks::BLOCK;
use super::content::SYSTEM_BLOCK;
use super::path::FieldPath;
use super::shape::{Betas, FieldRequirement, ValueShape, check, check_fields};
use super::wire::{self, Raw};
use super::{
    ApiBlock, ApiMessage, ApiRole, ApiTool, CacheLifetime, Endpoint, MessagesRequest, params, tools,
};
use crate::call::ApiError;

/// The maximum number of messages in a request.
const MOST_MESSAGES: usize = 100_000;

/// Reads a body.
pub(super) fn request(
    body: &[u8],
    endpoint: Endpoint,
    betas: &Betas,
    version: &str,
) -> Result<MessagesRequest, ApiError> {
    super::check_version(version)?;
    let raw = wire::body(body)?;
    let mut request = MessagesRequest {
        model: String::new(),
        max_tokens: None,
        stream: false,
        system: Vec::new(),
        tools: Vec::new(),
        messages: Vec::new(),
        automatic_cache: None,
        fields: Map::new(),
    };
    let mut hollow = None;
    for field in params::fields(endpoint, version, betas) {
        let at = FieldPath::top(field.name);
        let Some(sent) = raw.get(field.name) else {
            match field.need {
                FieldRequirement::Required => return Err(at.error("Field required")),
                _ => continue,
            }
        };
        match field.name {
            "tools" => request.tools = read_tools(sent, &at, betas)?,
            "messages" => (request.messages, hollow) = read_messages(sent, &at, betas)?,
            "system" => request.system = read_system(sent, &at, betas)?,
            name => {
                let value = wire::value(sent)?;
                if value.is_null() && field.need == FieldRequirement::Nullable {
                    continue;
                }
                check(&value, field.shape, &at, betas)?;
                ranges(name, &value, &at)?;
                keep(&mut request, name, value);
            }
        }
    }
    unknown(&raw, endpoint, betas, version)?;
    match hollow {
        Some(index) => Err(ApiError::invalid(format!(
            "messages.{index}: system content must contain at least one block"
        ))),
        None => Ok(request),
    }
}

/// Checks the limits for which the API has its own wording.
fn ranges(name: &str, value: &Value, at: &FieldPath<'_>) -> Result<(), ApiError> {
    match (name, value.as_f64(), value.as_str()) {
        ("max_tokens", Some(number), _) if number < 0.0 => {
            Err(at.error("must be greater than or equal to 0"))
        }
        ("temperature" | "top_p", Some(number), _) if !(0.0..=1.0).contains(&number) => {
            Err(at.error("range: 0..1"))
        }
        ("inference_geo", _, Some(place)) if place != "global" && place != "us" => {
            Err(at.error("must be one of ['global', 'us']"))
        }
        _ => Ok(()),
    }
}

fn keep(request: &mut MessagesRequest, name: &str, value: Value) {
    match name {
        "model" => request.model = value.as_str().unwrap_or_default().to_owned(),
        "max_tokens" => {
            let number = value
                .as_u64()
                .or(value.as_f64().map(|number| number as u64));
            request.max_tokens = number;
        }
        "stream" => request.stream = value.as_bool().unwrap_or_default(),
        "cache_control" => request.automatic_cache = Some(CacheLifetime::of(&value)),
        name => {
            request.fields.insert(name.to_owned(), value);
        }
    }
}

fn unknown(
    raw: &Raw<'_>,
    endpoint: Endpoint,
    betas: &Betas,
    version: &str,
) -> Result<(), ApiError> {
    let stranger = raw.keys().find(|name| {
        !params::fields(endpoint, version, betas).any(|field| field.name == name.as_str())
    });
    match stranger.map(String::as_str) {
        None => Ok(()),
        Some(name @ "compaction") => Err(ApiError::invalid(format!(
            "{name}: this parameter requires anthropic-beta: {}",
            params::ON_DEMAND.concat()
        ))),
        Some(name) => Err(FieldPath::top(name).error("Extra inputs are not permitted")),
    }
}

fn list<'a>(raw: &'a RawValue, at: &FieldPath<'_>) -> Result<Vec<&'a RawValue>, ApiError> {
    serde_json::from_str(raw.get()).map_err(|_| at.error("Input should be a valid array"))
}

/// Reads the tool definitions.
fn read_tools(raw: &RawValue, at: &FieldPath<'_>, betas: &Betas) -> Result<Vec<ApiTool>, ApiError> {
    let read = |(index, raw): (usize, &RawValue)| {
        let value = wire::value(raw)?;
        tools::check(&value, &at.index(index), betas)?;
        let Value::Object(mut fields) = value else {
            return Err(at.index(index).error("Input should be an object"));
        };
        let marker = CacheLifetime::taken(&mut fields);
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(ApiTool {
            // A set of tools has no name, so its type is used.
            name: text("name").or_else(|| text("type")).unwrap_or_default(),
            kind: text("type"),
            raw: Arc::from(raw.get()),
            deferred: fields.get("defer_loading") == Some(&Value::Bool(true)),
            fields,
            marker,
        })
    };
    list(raw, at)?.into_iter().enumerate().map(read).collect()
}

/// Reads the system prompt.
fn read_system(
    raw: &RawValue,
    at: &FieldPath<'_>,
    betas: &Betas,
) -> Result<Vec<ApiBlock>, ApiError> {
    read_content(raw, &SYSTEM_BLOCK, at, betas)
}

/// The messages, and the first one of role system without any content.
type ReadMessages = (Vec<ApiMessage>, Option<usize>);

fn read_messages(
    raw: &RawValue,
    at: &FieldPath<'_>,
    betas: &Betas,
) -> Result<ReadMessages, ApiError> {
    let items = list(raw, at)?;
    if items.len() > MOST_MESSAGES {
        return Err(at.error(format_args!(
            "List should have at most {MOST_MESSAGES} items after validation, not {}",
            items.len()
        )));
    }
    let mut messages = Vec::with_capacity(items.len());
    let mut hollow = None;
    for (index, raw) in items.into_iter().enumerate() {
        let at = at.index(index);
        let (message, says) = read_message(raw, &at, betas)?;
        if says == ContentPresence::Nothing {
            hollow = hollow.or(Some(index));
        }
        messages.push(message);
    }
    Ok((messages, hollow))
}

/// Whether a message has any content.
#[derive(PartialEq, Eq)]
enum ContentPresence {
    Something,
    /// The message is of role system, without content and without directives.
    Nothing,
}

fn read_message(
    raw: &RawValue,
    at: &FieldPath<'_>,
    betas: &Betas,
) -> Result<(ApiMessage, ContentPresence), ApiError> {
    let Ok(fields) = serde_json::from_str::<Raw<'_>>(raw.get()) else {
        return Err(at.error("Input does not match the expected shape."));
    };
    let Some(role) = fields.get("role") else {
        return Err(at.name("role").error("Field required"));
    };
    let role = match wire::value(role)?.as_str() {
        Some("user") => ApiRole::User,
        Some("assistant") => ApiRole::Assistant,
        Some("system") => ApiRole::System,
        Some(other) => {
            return Err(ApiError::invalid(format!(
                r#"messages: Unexpected role "{other}". Allowed roles are "user" or "assistant""#
            )));
        }
        None => return Err(at.name("role").error("Input should be a valid string")),
    };
    let mut rest = Map::new();
    for (name, value) in &fields {
        if name != "role" && name != "content" {
            rest.insert(name.clone(), wire::value(value)?);
        }
    }
    let directive =
        role == ApiRole::System && rest.get("output_config").is_some_and(Value::is_object);
    let content = match fields.get("content") {
        Some(raw) => read_content(raw, &BLOCK, &at.name("content"), betas)?,
        None if directive => Vec::new(),
        None => return Err(at.name("content").error("Field required")),
    };
    let allowed = match role {
        ApiRole::System => params::SYSTEM_MESSAGE,
        _ => &[],
    };
    check_fields(&rest, allowed, None, at, betas)?;
    let says = if role == ApiRole::System && content.is_empty() && !directive {
        ContentPresence::Nothing
    } else {
        ContentPresence::Something
    };
    Ok((ApiMessage { role, content }, says))
}

/// Reads content that is a string or a list of blocks. An empty string makes no block.
fn read_content(
    raw: &RawValue,
    shape: &ValueShape,
    at: &FieldPath<'_>,
    betas: &Betas,
) -> Result<Vec<ApiBlock>, ApiError> {
    if raw.get().starts_with('"') {
        let text = wire::value(raw)?;
        return Ok(match text.as_str() {
            Some("") => Vec::new(),
            _ => vec![ApiBlock {
                kind: "text".into(),
                raw: Arc::from(format!(r#"{{"type":"text","text":{}}}"#, raw.get())),
                fields: Map::from_iter([("text".into(), text), ("type".into(), "text".into())]),
                marker: None,
            }],
        });
    }
    let read = |(index, raw): (usize, &RawValue)| {
        let value = wire::value(raw)?;
        check(&value, shape, &at.index(index), betas)?;
        ApiBlock::from_parts(value, Arc::from(raw.get()))
            .ok_or_else(|| at.index(index).error("Input should be an object"))
    };
    list(raw, at)?.into_iter().enumerate().map(read).collect()
}

//! Translates a chat completion request to a Messages request: everything except the conversation and the tools.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::error::{ChatError, wrong_type};
use super::{conversation, tools};

/// The default for `max_tokens`, which is optional in the dialect and required in the Messages API.
const MAX_TOKENS: u64 = 16_384;

/// Every field that the dialect knows. Fields that are not translated do not change what a simulated model says.
const KNOWN: &[&str] = &[
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

/// The form of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streaming {
    /// One JSON object.
    Whole,
    /// A stream of chunks.
    Chunks,
    /// A stream of chunks, with one more that holds the usage.
    ChunksAndUsage,
}

/// A request in the Messages format.
#[derive(Debug, Clone)]
pub struct TranslatedRequest {
    /// The requested model.
    pub model: String,
    /// The form of the reply.
    pub streaming: Streaming,
    /// The field `prompt_cache_key`, which groups calls that belong together.
    pub session: Option<String>,
    fields: Map<String, Value>,
}

impl TranslatedRequest {
    /// The body of the Messages request, for this model.
    pub fn body(&self, model: &str) -> Bytes {
        let mut fields = self.fields.clone();
        fields.insert("model".to_owned(), json!(model));
        Value::Object(fields).to_string().into()
    }
}

/// Translates the body of a chat completion request.
pub fn translate(body: &[u8]) -> Result<TranslatedRequest, ChatError> {
    let Ok(Value::Object(given)) = serde_json::from_slice(body) else {
        return Err(ChatError::invalid(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP \
             library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
        ));
    };
    if let Some(unknown) = given.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(ChatError::invalid(format!(
            "Unrecognized request argument supplied: {unknown}"
        )));
    }
    unsupported(&given)?;
    let Some(model) = given.get("model").and_then(Value::as_str) else {
        return Err(ChatError::invalid("you must provide a model parameter"));
    };
    let streaming = streaming(&given)?;
    let mut fields = Map::new();
    let conversation = conversation::translate(given.get("messages"))?;
    fields.insert("messages".to_owned(), conversation.messages.into());
    if !conversation.system.is_empty() {
        fields.insert("system".to_owned(), conversation.system.into());
    }
    fields.insert("max_tokens".to_owned(), max_tokens(&given)?.into());
    // The dialect caches by itself; automatic caching is the closest equivalent.
    fields.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
    fields.insert("stream".to_owned(), (streaming != Streaming::Whole).into());
    tools::translate(&given, &mut fields)?;
    if let Some(stop) = stop(given.get("stop"))? {
        fields.insert("stop_sequences".to_owned(), stop.into());
    }
    if let Some(format) = format(given.get("response_format")) {
        fields.insert("output_config".to_owned(), json!({ "format": format }));
    }
    if let Some(user) = given.get("user").and_then(Value::as_str) {
        fields.insert("metadata".to_owned(), json!({ "user_id": user }));
    }
    let key = given.get("prompt_cache_key").and_then(Value::as_str);
    Ok(TranslatedRequest {
        model: model.to_owned(),
        streaming,
        session: key.map(str::to_owned),
        fields,
    })
}

/// Refuses parameters that this simulator cannot support.
fn unsupported(given: &Map<String, Value>) -> Result<(), ChatError> {
    let is_set = |key: &str| given.get(key).is_some_and(|value| !value.is_null());
    for old in ["functions", "function_call"] {
        if is_set(old) {
            return Err(ChatError::invalid(format!(
                "'{old}' is not simulated; use 'tools' and 'tool_choice' instead."
            ))
            .about(old)
            .with_code("unsupported_parameter"));
        }
    }
    if given
        .get("n")
        .and_then(Value::as_u64)
        .is_some_and(|n| n != 1)
    {
        return Err(ChatError::invalid("Only 'n': 1 is simulated.")
            .about("n")
            .with_code("unsupported_value"));
    }
    let audio = given.get("modalities").and_then(Value::as_array);
    if is_set("audio") || audio.is_some_and(|kinds| kinds.iter().any(|kind| kind == "audio")) {
        return Err(ChatError::invalid("Audio is not simulated.")
            .about("modalities")
            .with_code("unsupported_value"));
    }
    Ok(())
}

fn streaming(given: &Map<String, Value>) -> Result<Streaming, ChatError> {
    let streamed = match given.get("stream") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(streamed)) => *streamed,
        Some(other) => return Err(wrong_type("stream", "a boolean", other)),
    };
    let options = given.get("stream_options").filter(|value| !value.is_null());
    match (streamed, options) {
        (false, Some(_)) => Err(ChatError::invalid(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        )
        .about("stream_options")),
        (false, None) => Ok(Streaming::Whole),
        (true, Some(options)) if options["include_usage"] == true => Ok(Streaming::ChunksAndUsage),
        (true, _) => Ok(Streaming::Chunks),
    }
}

fn max_tokens(given: &Map<String, Value>) -> Result<u64, ChatError> {
    for key in ["max_completion_tokens", "max_tokens"] {
        match given.get(key) {
            None | Some(Value::Null) => {}
            Some(value) => match value.as_u64() {
                Some(0) => {
                    return Err(ChatError::invalid(format!(
                        "Invalid '{key}': integer below minimum value. Expected a value >= 1, but got 0 instead."
                    ))
                    .about(key)
                    .with_code("integer_below_min_value"));
                }
                Some(tokens) => return Ok(tokens),
                None => return Err(wrong_type(key, "an integer", value)),
            },
        }
    }
    Ok(MAX_TOKENS)
}

fn stop(stop: Option<&Value>) -> Result<Option<Vec<Value>>, ChatError> {
    match stop {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(one)) => Ok(Some(vec![json!(one)])),
        Some(Value::Array(many)) => Ok(Some(many.clone())),
        Some(other) => Err(wrong_type("stop", "a string or an array of strings", other)),
    }
}

fn format(format: Option<&Value>) -> Option<Value> {
    let schema = format.filter(|format| format["type"] == "json_schema")?;
    Some(json!({ "type": "json_schema", "schema": schema["json_schema"]["schema"] }))
}

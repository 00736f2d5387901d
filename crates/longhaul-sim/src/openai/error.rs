//! Errors in OpenAI's envelope and, where it is known, OpenAI's wording.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::call::ApiError;

/// An answer that is an error in the OpenAI dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatError {
    /// The HTTP status.
    pub status: u16,
    /// The field `error.message`.
    pub message: String,
    /// The field `error.type`.
    pub kind: &'static str,
    /// The field `error.param`.
    pub param: Option<String>,
    /// The field `error.code`.
    pub code: Option<Cow<'static, str>>,
    /// The `retry-after` header, in seconds.
    pub retry_after: Option<u64>,
}

impl ChatError {
    /// Creates a 400 with this message.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            message: message.into(),
            kind: "invalid_request_error",
            param: None,
            code: None,
            retry_after: None,
        }
    }

    pub(super) fn about(self, param: impl Into<String>) -> Self {
        Self {
            param: Some(param.into()),
            ..self
        }
    }

    pub(crate) fn with_code(self, code: &'static str) -> Self {
        Self {
            code: Some(code.into()),
            ..self
        }
    }

    /// Translates a refusal of the world to this dialect. `model` is the one that the client asked for.
    pub fn translated(error: &ApiError, model: &str) -> Self {
        let told = Self {
            status: error.status,
            code: error.code.map(Into::into),
            retry_after: error.retry_after,
            ..Self::invalid(error.message.clone())
        };
        match error.status {
            400 => too_long(&error.message).unwrap_or(told),
            401 => told.with_code("invalid_api_key"),
            404 => Self {
                message: format!(
                    "The model `{model}` does not exist or you do not have access to it."
                ),
                ..told.with_code("model_not_found")
            },
            413 => told.with_code("request_too_large"),
            429 => Self {
                message: format!("Rate limit reached for {model}. Please try again later."),
                kind: "requests",
                ..told.with_code("rate_limit_exceeded")
            },
            // OpenAI has no 529; it uses 503 for that.
            529 => Self {
                status: 503,
                message: "The engine is currently overloaded, please try again later".to_owned(),
                kind: "service_unavailable_error",
                ..told
            },
            500.. => Self {
                message: "The server had an error while processing your request. Sorry about that!"
                    .to_owned(),
                kind: "server_error",
                ..told
            },
            _ => told,
        }
    }

    /// The response body.
    pub fn envelope(&self) -> Value {
        json!({ "error": {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        }})
    }
}

/// Translates the world's two messages about a prompt that is too long to OpenAI's wording.
fn too_long(message: &str) -> Option<ChatError> {
    let numbers: Vec<u64> = message
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect();
    let sentence = match numbers[..] {
        [tokens, window, ..] if message.contains("prompt is too long") => format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} \
             tokens. Please reduce the length of the messages."
        ),
        [input, output, window, ..] if message.contains("exceed context limit") => format!(
            "This model's maximum context length is {window} tokens. However, you requested {} tokens ({input} in the \
             messages, {output} in the completion). Please reduce the length of the messages or completion.",
            input.saturating_add(output)
        ),
        _ => return None,
    };
    Some(
        ChatError::invalid(sentence)
            .about("messages")
            .with_code("context_length_exceeded"),
    )
}

/// A field whose value is of another type than expected.
pub(super) fn wrong_type(param: &str, expected: &str, got: &Value) -> ChatError {
    let got = match got {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    ChatError::invalid(format!(
        "Invalid type for '{param}': expected {expected}, but got {got} instead."
    ))
    .about(param)
    .with_code("invalid_type")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, message: &str) -> ChatError {
        let error = ApiError {
            status,
            ..ApiError::invalid(message)
        };
        ChatError::translated(&error, "gpt-5")
    }

    #[test]
    fn n5_a_prompt_too_long_is_told_in_the_words_of_the_dialect() {
        let error = told(400, "prompt is too long: 210000 tokens > 200000 maximum");
        assert_eq!(error.code.as_deref(), Some("context_length_exceeded"));
        assert_eq!(
            error.message,
            "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens. \
             Please reduce the length of the messages."
        );
        let error = told(
            400,
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length",
        );
        assert!(error.message.contains(
            "you requested 242959 tokens (178959 in the messages, 64000 in the completion)"
        ));
    }

    #[test]
    fn n5_statuses_have_their_kinds() {
        assert_eq!(told(529, "Overloaded").status, 503);
        assert_eq!(
            told(429, "slow down").code.as_deref(),
            Some("rate_limit_exceeded")
        );
        assert_eq!(told(500, "oh").kind, "server_error");
        assert_eq!(
            told(404, "model: x").code.as_deref(),
            Some("model_not_found")
        );
        assert_eq!(told(400, "other").message, "other");
        assert_eq!(told(400, "other").envelope()["error"]["param"], Value::Null);
    }
}

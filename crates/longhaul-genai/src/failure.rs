//! Errors of genai as those of the library: what a session does next depends on their class.

use std::time::SystemTime;

use genai::webc::StreamTimeout;
use genai::{Error as GenaiError, resolver, webc};
use longhaul::{ModelError, ModelErrorClass};
use longhaul_provider::error::{AwaitedStep, ErrorResponse};
use longhaul_provider::{Redactor, chain};

/// Translates an error. The key, and whatever looks like one, is removed from its message, because servers quote keys.
pub(crate) fn from_genai(error: &GenaiError, key: Option<&str>) -> ModelError {
    let mut translated = translate(error);
    translated.message = Redactor::new(key).redact(&translated.message).into();
    translated
}

fn translate(error: &GenaiError) -> ModelError {
    match error {
        GenaiError::HttpError {
            status,
            body,
            headers,
            ..
        } => {
            let now = SystemTime::now();
            ErrorResponse::from_http(status.as_u16(), headers, body.as_bytes(), now).into_error()
        }
        GenaiError::WebModelCall { webc_error, .. }
        | GenaiError::WebAdapterCall { webc_error, .. } => from_web(webc_error),
        GenaiError::WebStream { error, .. } => from_stream(&**error),
        GenaiError::ChatResponse { body, .. } => {
            ErrorResponse::from_body(body.to_string().as_bytes()).into_error()
        }
        GenaiError::RequiresApiKey { .. }
        | GenaiError::NoAuthResolver { .. }
        | GenaiError::NoAuthData { .. } => new(ModelErrorClass::Auth, error),
        GenaiError::Resolver { resolver_error, .. }
        | GenaiError::ModelMapperFailed {
            cause: resolver_error,
            ..
        } => from_resolver(resolver_error),
        // Its own text quotes the whole request.
        GenaiError::ChatResponseGeneration { cause, .. } => {
            ModelError::new(ModelErrorClass::Malformed, cause.as_str())
        }
        GenaiError::StreamParse { .. }
        | GenaiError::NoChatResponse { .. }
        | GenaiError::InvalidJsonResponseElement { .. }
        | GenaiError::JsonValueExt(_)
        | GenaiError::SerdeJson(_) => new(ModelErrorClass::Malformed, error),
        // What is left is refused by genai itself, before anything is sent.
        _ => new(ModelErrorClass::Invalid, error),
    }
}

fn from_web(error: &webc::Error) -> ModelError {
    match error {
        webc::Error::ResponseFailedStatus {
            status,
            body,
            headers,
        } => {
            let now = SystemTime::now();
            ErrorResponse::from_http(status.as_u16(), headers, body.as_bytes(), now).into_error()
        }
        webc::Error::Reqwest(error) => from_stream(error),
        webc::Error::ResponseFailedNotJson { body, .. }
        | webc::Error::ResponseFailedInvalidJson { body, .. } => {
            let mut error = ErrorResponse::from_body(body.as_bytes()).into_error();
            error.class = ModelErrorClass::Malformed;
            error
        }
        webc::Error::JsonValueExt(error) => new(ModelErrorClass::Malformed, error),
    }
}

/// genai puts every failure of a stream into one box, also a response with an error status.
fn from_stream(error: &(dyn std::error::Error + 'static)) -> ModelError {
    if let Some(error) = error.downcast_ref::<GenaiError>() {
        return translate(error);
    }
    if let Some(timeout) = error.downcast_ref::<StreamTimeout>() {
        let awaited = match timeout {
            StreamTimeout::Headers => AwaitedStep::FirstByte,
            StreamTimeout::Read => AwaitedStep::NextByte,
        };
        return ModelError::new(ModelErrorClass::Timeout(awaited), "");
    }
    let Some(failed) = error.downcast_ref::<reqwest::Error>() else {
        return ModelError::new(ModelErrorClass::Cut, chain(error));
    };
    let class = if failed.is_connect() && failed.is_timeout() {
        ModelErrorClass::Timeout(AwaitedStep::Connection)
    } else if failed.is_builder() {
        ModelErrorClass::Invalid
    } else if failed.is_body() || failed.is_decode() {
        ModelErrorClass::Cut
    } else {
        ModelErrorClass::Retry { after: None }
    };
    // Its causes and not the error itself, whose text has the URL, which may hold a key.
    let host = failed
        .url()
        .and_then(|url| url.host_str())
        .unwrap_or("the server");
    let cause = std::error::Error::source(failed).map_or_else(|| "no answer".to_owned(), chain);
    ModelError::new(class, format!("{host}: {cause}"))
}

fn from_resolver(error: &resolver::Error) -> ModelError {
    match error {
        resolver::Error::ApiKeyEnvNotFound { env_name } => ModelError::new(
            ModelErrorClass::Auth,
            format!("there is no key: set the environment variable {env_name}"),
        ),
        other => new(ModelErrorClass::Invalid, other),
    }
}

fn new(class: ModelErrorClass, error: &dyn std::error::Error) -> ModelError {
    ModelError::new(class, error.to_string())
}

/// The error for a request that cannot be translated.
pub(crate) fn invalid(message: impl Into<Box<str>>) -> ModelError {
    ModelError::new(ModelErrorClass::Invalid, message)
}

#[cfg(test)]
mod tests {
    use genai::ModelIden;
    use genai::adapter::AdapterKind;
    use longhaul_provider::error::PromptOverflow;
    use reqwest::StatusCode;
    use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
    use serde_json::json;

    use super::*;

    fn model_iden() -> ModelIden {
        ModelIden::new(AdapterKind::OpenAI, "gpt-5.2")
    }

    /// A response with an error status, as it comes out of a stream.
    fn response(status: u16, body: &str) -> GenaiError {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_static("7"));
        let error = GenaiError::HttpError {
            status: StatusCode::from_u16(status).unwrap(),
            canonical_reason: String::new(),
            body: body.to_owned(),
            headers: Box::new(headers),
        };
        GenaiError::WebStream {
            model_iden: model_iden(),
            cause: String::new(),
            error: Box::new(error),
        }
    }

    #[test]
    fn l1_prompts_that_are_too_long_are_recognized_in_the_words_of_each_provider() {
        let openai = r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#;
        let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 130001 tokens > 128000 maximum"}}"#;
        let gemini = r#"{"error":{"code":400,"message":"The input token count (130001) exceeds the maximum number of tokens allowed (128000).","status":"INVALID_ARGUMENT"}}"#;
        for body in [openai, anthropic, gemini] {
            let overflow = PromptOverflow {
                actual: Some(130_001),
                limit: Some(128_000),
            };
            let class = from_genai(&response(400, body), None).class;
            assert_eq!(class, ModelErrorClass::TooLong(overflow), "{body}");
        }
    }

    #[test]
    fn responses_get_the_class_and_the_wait_of_their_status() {
        let after = Some(std::time::Duration::from_secs(7));
        for (status, class) in [
            (401, ModelErrorClass::Auth),
            (404, ModelErrorClass::NotFound),
            (429, ModelErrorClass::RateLimited { after }),
            (529, ModelErrorClass::Overloaded { after }),
            (500, ModelErrorClass::Server { after }),
            (400, ModelErrorClass::Invalid),
        ] {
            let error = from_genai(&response(status, "{}"), None);
            assert_eq!((error.class, error.status), (class, Some(status)));
        }
        let inside = GenaiError::ChatResponse {
            model_iden: model_iden(),
            body: json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        };
        let class = from_genai(&inside, None).class;
        assert_eq!(class, ModelErrorClass::Overloaded { after: None });
    }

    #[test]
    fn a_key_that_a_server_quotes_is_not_in_the_message() {
        let body =
            r#"{"error":{"message":"Incorrect key: my-secret-key (was it sk-proj-****cdef?)"}}"#;
        let error = from_genai(&response(401, body), Some("my-secret-key"));
        assert_eq!(
            &*error.message,
            "Incorrect key: [redacted] (was it [redacted]?)"
        );
    }

    #[test]
    fn a_missing_key_says_which_variable_to_set() {
        let error = GenaiError::Resolver {
            model_iden: model_iden(),
            resolver_error: resolver::Error::ApiKeyEnvNotFound {
                env_name: "OPENAI_API_KEY".to_owned(),
            },
        };
        let error = from_genai(&error, None);
        assert_eq!(error.class, ModelErrorClass::Auth);
        assert!(error.message.contains("OPENAI_API_KEY"), "{error}");
    }

    #[test]
    fn the_request_is_not_quoted_by_an_error() {
        let error = GenaiError::ChatResponseGeneration {
            model_iden: model_iden(),
            request_payload: Box::new(json!({"messages": "private"})),
            response_body: Box::new(json!({})),
            cause: "no choices".to_owned(),
        };
        let error = from_genai(&error, None);
        assert_eq!(error.class, ModelErrorClass::Malformed);
        assert!(!error.to_string().contains("private"), "{error}");
    }
}

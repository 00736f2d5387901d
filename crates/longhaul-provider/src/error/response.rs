//! An error response of a server: status, headers and one of several envelopes, read into one form.
//!
//! Envelopes: Anthropic `{"type":"error","error":{…},"request_id"}`, OpenAI `{"error":{…}}`, Google
//! `{"error":{"status"}}` alone or in an array and possibly with another envelope as its message, Bedrock
//! `{"message"}`, and plain text.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use longhaul_core::json::ObjectReader;

use super::RetryAdvice;
use super::prompt_overflow::PromptOverflow;
use crate::raw;

/// The parts of an error response that matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ErrorResponse {
    /// The HTTP status; `None` for an error that came inside a stream.
    pub status: Option<u16>,
    /// The API's error type.
    pub kind: Option<String>,
    /// The API's code within the type.
    pub code: Option<String>,
    /// The message text.
    pub message: String,
    /// The server's id of the exchange.
    pub request_id: Option<String>,
    /// The wait that the server asked for.
    pub after: Option<Duration>,
    /// The server's advice on retrying.
    pub advice: Option<RetryAdvice>,
    /// Numbers that some servers report beside the text.
    pub overflow: PromptOverflow,
}

/// The longest message taken from a body that is not an envelope (an HTML page of a proxy, for example).
const LONGEST_PLAIN: usize = 500;

impl ErrorResponse {
    /// Reads a whole HTTP response. The time is needed for a `retry-after` that is a date.
    pub fn from_http(status: u16, headers: &HeaderMap, body: &[u8], now: SystemTime) -> Self {
        let mut answer = Self::from_body(body);
        answer.status = Some(status);
        answer.after = retry_after(headers, now);
        answer.advice = match header(headers, "x-should-retry") {
            Some("true") => Some(RetryAdvice::Retry),
            Some("false") => Some(RetryAdvice::Stop),
            _ => None,
        };
        if answer.kind.is_none() {
            // Bedrock: `ValidationException:http://…`.
            let kind = header(headers, "x-amzn-errortype").and_then(|kind| kind.split(':').next());
            answer.kind = kind.map(str::to_owned);
        }
        answer.request_id = request_id(headers).or(answer.request_id);
        answer
    }

    /// Reads the body of an error, or an error event of a stream.
    pub fn from_body(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim();
        Self::from_envelope(text, 0).unwrap_or_else(|| Self {
            message: text.chars().take(LONGEST_PLAIN).collect(),
            ..Self::default()
        })
    }

    fn from_envelope(text: &str, depth: u8) -> Option<Self> {
        let first = if text.starts_with('[') {
            raw::items(text.as_bytes()).first().copied()?
        } else {
            text.as_bytes()
        };
        if !raw::is_object(first) {
            return None;
        }
        let outer = ObjectReader::new(first);
        let inner = outer.object("error").unwrap_or(outer);
        let string = |object: ObjectReader<'_>, key| object.string(key).map(Cow::into_owned);
        let details = inner.object("details");
        let message = string(inner, "message")
            .or_else(|| string(outer, "error"))
            .or_else(|| string(outer, "message"))
            .or_else(|| string(outer, "Message"))
            .or_else(|| string(outer, "detail"))?;
        let mut answer = Self {
            kind: string(inner, "type")
                .filter(|kind| kind != "error")
                .or_else(|| string(inner, "status")),
            code: details
                .and_then(|details| string(details, "error_code"))
                .or_else(|| string(inner, "code")),
            request_id: string(outer, "request_id"),
            overflow: PromptOverflow {
                actual: inner.count("n_prompt_tokens"),
                limit: inner.count("n_ctx"),
            },
            message,
            ..Self::default()
        };
        // Gateways put the upstream's envelope into their own as text.
        if depth < 3
            && let Some(start) = answer.message.find('{')
            && let Some(nested) = Self::from_envelope(answer.message[start..].trim(), depth + 1)
        {
            answer.message = nested.message;
            answer.kind = nested.kind.or(answer.kind);
            answer.code = nested.code.or(answer.code);
            answer.request_id = answer.request_id.or(nested.request_id);
        }
        Some(answer)
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The server's id of an exchange, under any of the header names in use.
pub fn request_id(headers: &HeaderMap) -> Option<String> {
    ["request-id", "x-request-id", "x-amzn-requestid"]
        .into_iter()
        .find_map(|name| header(headers, name))
        .map(str::to_owned)
}

/// The wait that a server asks for: milliseconds, seconds (whole or not), or a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let number = |name| {
        header(headers, name)?
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite() && *value >= 0.0)
    };
    if let Some(milliseconds) = number("retry-after-ms") {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    if let Some(seconds) = number("retry-after") {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(header(headers, "retry-after")?).ok()?;
    // For a date that has passed, or a clock that differs: no wait.
    Some(date.duration_since(now).unwrap_or_default())
}

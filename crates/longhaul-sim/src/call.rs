//! Calls from a client and the answers to them, without the network.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde_json::Value;

/// Milliseconds of virtual time since the world began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct VirtualMillis(pub u64);

/// One request as it arrived.
#[derive(Debug, Clone, Default)]
pub struct ApiCall {
    /// The API key, which separates caches and threads. It is never logged.
    pub key: String,
    /// The `anthropic-version` header.
    pub version: String,
    /// The `anthropic-beta` header, split at commas.
    pub betas: BTreeSet<String>,
    /// The name that groups calls in the usage log: a session header, if the client sends one.
    pub session: Option<String>,
    /// The request body.
    pub body: Bytes,
}

/// An answer in the API's error envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// The field `error.type`, such as `invalid_request_error`.
    pub kind: &'static str,
    /// The field `error.message`.
    pub message: String,
    /// The field `error.details.error_code`, where the API gives one.
    pub code: Option<&'static str>,
    /// The `retry-after` header, in seconds.
    pub retry_after: Option<u64>,
}

impl ApiError {
    /// Creates a 400 with this message.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            kind: "invalid_request_error",
            message: message.into(),
            code: None,
            retry_after: None,
        }
    }

    /// Adds an error code.
    pub(crate) fn with_code(self, code: &'static str) -> Self {
        Self {
            code: Some(code),
            ..self
        }
    }

    /// The response body.
    pub fn envelope(&self, request_id: &str) -> Value {
        let mut error = serde_json::json!({ "type": self.kind, "message": self.message });
        if let Some(code) = self.code {
            error["details"] = serde_json::json!({ "error_code": code });
        }
        serde_json::json!({ "type": "error", "error": error, "request_id": request_id })
    }
}

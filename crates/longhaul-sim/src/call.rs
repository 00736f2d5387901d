//! What comes in from a client and what goes back, without the network.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde_json::Value;

/// Milliseconds of virtual time since the world began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct VirtualMillis(pub u64);

/// One request as it arrived.
#[derive(Debug, Clone, Default)]
pub struct ApiCall {
    /// The API key; caches and threads are isolated by it. Never logged.
    pub key: String,
    /// `anthropic-version`.
    pub version: String,
    /// `anthropic-beta`, split at commas.
    pub betas: BTreeSet<String>,
    /// A name that groups calls in the books: a session header if the client sends one.
    pub session: Option<String>,
    /// The body.
    pub body: Bytes,
}

/// An answer in the API's error envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError {
    /// HTTP status.
    pub status: u16,
    /// `error.type`, as in `invalid_request_error`.
    pub kind: &'static str,
    /// `error.message`.
    pub message: String,
    /// `error.details.error_code`, where the API gives one.
    pub code: Option<&'static str>,
    /// `retry-after`, in seconds.
    pub retry_after: Option<u64>,
}

impl ApiError {
    /// A 400 with this message.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            kind: "invalid_request_error",
            message: message.into(),
            code: None,
            retry_after: None,
        }
    }

    /// The same with an error code.
    pub fn with_code(self, code: &'static str) -> Self {
        Self {
            code: Some(code),
            ..self
        }
    }

    /// The body.
    pub fn envelope(&self, request_id: &str) -> Value {
        let mut error = serde_json::json!({ "type": self.kind, "message": self.message });
        if let Some(code) = self.code {
            error["details"] = serde_json::json!({ "error_code": code });
        }
        serde_json::json!({ "type": "error", "error": error, "request_id": request_id })
    }
}

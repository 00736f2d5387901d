//! The request log: one JSON object per line, without keys and texts.

use std::fmt;
use std::io::Write;
use std::sync::Mutex;

use serde::Serialize;

use super::lock::lock;

/// One logged request.
#[derive(Debug, Serialize)]
pub(super) struct RequestLogLine<'a> {
    pub(super) at: String,
    pub(super) now_ms: u64,
    pub(super) path: &'a str,
    pub(super) status: u16,
    pub(super) request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<&'a serde_json::Value>,
}

/// The destination of the lines, if any.
#[derive(Default)]
pub(super) struct RequestLog(Option<Mutex<Box<dyn Write + Send>>>);

impl RequestLog {
    pub(super) fn new(to: Option<Box<dyn Write + Send>>) -> Self {
        Self(to.map(Mutex::new))
    }

    /// Writes a line. A log that cannot be written must not end the service; the error is logged through `tracing`.
    pub(super) fn write(&self, line: &RequestLogLine<'_>) {
        let Some(to) = &self.0 else { return };
        let Ok(mut bytes) = serde_json::to_vec(line) else {
            return;
        };
        bytes.push(b'\n');
        let mut to = lock(to);
        if let Err(error) = to.write_all(&bytes).and_then(|()| to.flush()) {
            tracing::warn!(%error, "the request log cannot be written");
        }
    }
}

impl fmt::Debug for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Log").field(&self.0.is_some()).finish()
    }
}

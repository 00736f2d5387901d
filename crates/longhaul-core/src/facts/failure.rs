//! The last error: the newest failed tool result or API error, and whether the same has succeeded since (ruling 14).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The newest failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastError {
    /// Who failed.
    pub source: ErrorSource,
    /// The name of the tool, if a tool failed and its call is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The subject of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The error's text, with the middle cut out if it is long.
    pub text: String,
    /// The entry that holds the error.
    #[serde(default)]
    pub uuid: String,
    /// When it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Whether the same was tried again later and succeeded.
    #[serde(default)]
    pub succeeded_since: bool,
    /// The key that identifies another attempt as the same.
    #[serde(default)]
    pub(super) key: String,
}

/// Who failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorSource {
    /// A tool.
    Tool,
    /// The provider's API.
    Api,
}

impl LastError {
    /// Records that a call with this key succeeded.
    pub(super) fn succeeded(&mut self, key: u64) {
        self.succeeded_since |= self.source == ErrorSource::Tool && self.key == key_text(key);
    }

    /// Records that the model replied.
    pub(super) fn replied(&mut self) {
        self.succeeded_since |= self.source == ErrorSource::Api;
    }
}

pub(super) fn key_text(key: u64) -> String {
    format!("{key:016x}")
}

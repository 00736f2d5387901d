//! What is decided once and then kept, because changing it would break the cache (B4, B5). It is the `settings` part of
//! the head entry (M7).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Ttl;

/// Settings that are part of the cache key, latched for the session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Latched {
    /// The lifetime of what requests write to the cache.
    pub ttl: Ttl,
    /// Beta features, sorted.
    #[serde(default)]
    pub betas: Vec<String>,
    /// Whether results carry a reference for cache edits (B3).
    #[serde(default)]
    pub cache_references: bool,
    /// The uuid of the entry up to which thinking is no longer sent (N2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_stripped_through: Option<String>,
    /// The fields of the body other than `system`, `tools` and `messages`: an object, sent as it stands here.
    pub body: Box<RawValue>,
}

//! How long the provider keeps what a request wrote to its cache.

use serde::{Deserialize, Serialize};

/// A lifetime of cache entries.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize,
)]
pub enum Ttl {
    /// Five minutes, the provider's default.
    #[default]
    #[serde(rename = "5m")]
    FiveMinutes,
    /// An hour.
    #[serde(rename = "1h")]
    OneHour,
}

impl Ttl {
    /// Its length in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            Self::FiveMinutes => 300,
            Self::OneHour => 3_600,
        }
    }

    /// The marker that is put on a block. The default lifetime is not spelled out.
    pub fn marker(self) -> &'static str {
        match self {
            Self::FiveMinutes => r#"{"type":"ephemeral"}"#,
            Self::OneHour => r#"{"type":"ephemeral","ttl":"1h"}"#,
        }
    }
}

//! How long the provider keeps what a request wrote to its cache, and who may ask for the longer time (B4).
//!
//! The lifetime is decided once, when a session's first prefix is made, and latched there: a cache breakpoint whose
//! lifetime changes refers to another cache. A fork has no lifetime of its own: it repeats its parent's bytes,
//! breakpoints included.

use serde::{Deserialize, Serialize};

use crate::json::ObjectReader;
use crate::window::QuerySource;

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
    /// The lifetime in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            Self::FiveMinutes => 300,
            Self::OneHour => 3_600,
        }
    }

    /// The lifetime's name, as in a cache breakpoint.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5m",
            Self::OneHour => "1h",
        }
    }

    /// Returns the lifetime of a block's cache breakpoint; `None` if the block has none.
    pub(crate) fn of_block(block: ObjectReader<'_>) -> Option<Self> {
        let marker = block.object("cache_control")?;
        Some(match marker.string("ttl").as_deref() {
            Some("1h") => Self::OneHour,
            _ => Self::FiveMinutes,
        })
    }

    /// Returns the `cache_control` of a block. The default lifetime is not written.
    pub fn marker(self) -> &'static str {
        match self {
            Self::FiveMinutes => r#"{"type":"ephemeral"}"#,
            Self::OneHour => r#"{"type":"ephemeral","ttl":"1h"}"#,
        }
    }
}

/// The user's or host's settings for caching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheSettings {
    /// Whether requests have cache breakpoints.
    pub enabled: bool,
    /// Whether the host is eligible for the one-hour lifetime.
    pub one_hour: bool,
    /// Whether the lifetime is always five minutes, whatever else is set.
    pub five_minutes_only: bool,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            one_hour: false,
            five_minutes_only: false,
        }
    }
}

/// Sources whose conversations continue after a pause. Helpers that make a single request are not among them.
const LONG_LIVED: [&str; 3] = ["repl_main_thread*", "sdk", "agent:*"];

/// Which requests get which lifetime.
#[derive(Debug, Clone)]
pub struct TtlPolicy {
    settings: CacheSettings,
    long_lived: Vec<String>,
}

impl TtlPolicy {
    /// Creates the policy for these settings, with the standard list of sources.
    pub fn new(settings: CacheSettings) -> Self {
        Self {
            settings,
            long_lived: LONG_LIVED.map(str::to_owned).to_vec(),
        }
    }

    /// Returns the lifetime for a source's requests; if `None`, they have no cache breakpoints.
    pub fn decide(&self, source: &QuerySource) -> Option<Ttl> {
        let settings = &self.settings;
        let long = settings.one_hour
            && !settings.five_minutes_only
            && self.long_lived.iter().any(|name| names(name, source));
        settings
            .enabled
            .then_some(if long { Ttl::OneHour } else { Ttl::FiveMinutes })
    }
}

/// Whether a name of the list matches a source.
fn names(name: &str, source: &QuerySource) -> bool {
    match name.strip_suffix('*') {
        Some(beginning) => source.as_str().starts_with(beginning),
        None => source.as_str() == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(settings: CacheSettings, source: &str) -> Option<Ttl> {
        TtlPolicy::new(settings).decide(&QuerySource::new(source.to_owned()))
    }

    const HOUR: CacheSettings = CacheSettings {
        enabled: true,
        one_hour: true,
        five_minutes_only: false,
    };

    #[test]
    fn b4_an_hour_goes_to_listed_sources_of_an_eligible_host() {
        let sources = [
            ("repl_main_thread", true),
            ("repl_main_thread:outputStyle", true),
            ("sdk", true),
            ("sdk2", false),
            ("agent:explore", true),
            ("agent", false),
            ("notes", false),
            ("speculation", false),
            ("suggestions", false),
        ];
        for (source, hour) in sources {
            let ttl = decide(HOUR, source);
            assert_eq!(ttl == Some(Ttl::OneHour), hour, "{source}");
            let plain = decide(CacheSettings::default(), source);
            assert_eq!(plain, Some(Ttl::FiveMinutes), "{source}");
        }
    }

    #[test]
    fn b4_five_minutes_can_be_forced_and_caching_switched_off() {
        let forced = CacheSettings {
            five_minutes_only: true,
            ..HOUR
        };
        assert_eq!(decide(forced, "sdk"), Some(Ttl::FiveMinutes));
        let off = CacheSettings {
            enabled: false,
            ..HOUR
        };
        assert_eq!(decide(off, "sdk"), None);
    }

    #[test]
    fn b4_the_list_of_sources_can_be_another() {
        let policy = TtlPolicy {
            long_lived: vec!["gateway:*".into()],
            ..TtlPolicy::new(HOUR)
        };
        let decide = |name: &str| policy.decide(&QuerySource::new(name.to_owned()));
        assert_eq!(decide("gateway:7"), Some(Ttl::OneHour));
        assert_eq!(decide("sdk"), Some(Ttl::FiveMinutes));
    }
}

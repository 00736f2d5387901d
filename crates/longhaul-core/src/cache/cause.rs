//! Picks the one cause of a break (D2): a change, else an expired lifetime, else the server's side.

use std::fmt;

use super::change::{ChangeCertainty, RequestChange};
use crate::prompt::Ttl;

/// Why less was read from the cache than last time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheMissCause {
    /// The request is different: this is the first change that matters.
    Changed(RequestChange),
    /// The cached part has expired: this was its lifetime.
    Expired(Ttl),
    /// The host replaces part of the client's conversation: this is what it has done.
    Rewritten(&'static str),
    /// Nothing differs and the lifetime had not expired: the provider evicted the cache or used another machine.
    ServerSide,
}

impl CacheMissCause {
    /// Picks the cause.
    ///
    /// A change that is known to be part of the key comes first. A change that is only suspected (a flag, a lifetime, a
    /// field of unknown effect) must not hide an expired lifetime or an action of the host, which are certain.
    pub(super) fn of(
        changes: &[RequestChange],
        expired: Option<Ttl>,
        rewritten: Option<&'static str>,
    ) -> Self {
        let first =
            |weight: ChangeCertainty| changes.iter().find(|change| change.weight() == weight);
        if let Some(change) = first(ChangeCertainty::Key) {
            return Self::Changed(change.clone());
        }
        match (expired, rewritten, first(ChangeCertainty::Suspect)) {
            (Some(ttl), ..) => Self::Expired(ttl),
            (None, Some(done), _) => Self::Rewritten(done),
            (None, None, Some(change)) => Self::Changed(change.clone()),
            (None, None, None) => Self::ServerSide,
        }
    }

    /// A short name for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Changed(change) => change.name(),
            Self::Expired(Ttl::FiveMinutes) => "expired_5m",
            Self::Expired(Ttl::OneHour) => "expired_1h",
            Self::Rewritten(_) => "rewritten",
            Self::ServerSide => "server_side",
        }
    }
}

impl fmt::Display for CacheMissCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(change) => write!(f, "{change}"),
            Self::Expired(Ttl::FiveMinutes) => f.write_str("idle for more than 5 min: expired"),
            Self::Expired(Ttl::OneHour) => f.write_str("idle for more than 1 h: expired"),
            Self::Rewritten(done) => f.write_str(done),
            Self::ServerSide => {
                f.write_str("nothing changed and it was in time: the provider dropped it")
            }
        }
    }
}

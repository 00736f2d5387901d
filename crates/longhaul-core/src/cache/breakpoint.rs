//! A cache breakpoint, as a request carries it: on a block, a tool, the system prompt, or the request itself.

use super::fields::JsonFields;
use crate::prompt::Ttl;

/// A cache breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheBreakpoint {
    /// The lifetime of the cached part that it writes.
    pub ttl: Ttl,
    /// A provider-specific restriction on who may read it.
    pub scope: Option<String>,
}

impl CacheBreakpoint {
    /// Reads the value of `cache_control`.
    pub(super) fn read(raw: &[u8]) -> Option<Self> {
        let fields = JsonFields::of(raw).ok()?;
        Some(Self {
            ttl: match fields.string("ttl").as_deref() {
                Some("1h") => Ttl::OneHour,
                _ => Ttl::FiveMinutes,
            },
            scope: fields.string("scope").map(Into::into),
        })
    }
}

/// The breakpoints on the messages: position and breakpoint, in order.
pub type BreakpointPositions = Vec<(usize, CacheBreakpoint)>;

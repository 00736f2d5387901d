//! Faults between a client and the API, on demand.
//!
//! An [`InjectedFault`] is a value. [`FaultPlan`] decides from a specification, a seed and the number of the request
//! which fault, if any, a request meets; nothing else affects the decision. [`InjectedFault::refusal`] and
//! [`wire::script`] say what a client then sees. The server plays that back on a socket; a test without a network can
//! read the same script.

mod arguments;
mod plan;
mod rule;
mod spec;
mod spec_error;
pub mod wire;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::call::ApiError;

pub use plan::FaultPlan;
pub(crate) use rule::FaultTrigger;
pub use spec_error::FaultSpecError;

/// The default number of stream events before a fault strikes: the start of the message, the start of a block and a
/// first piece of it.
pub(crate) const DEFAULT_AFTER: usize = 3;

/// A single fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// 429 `rate_limit_error`.
    RateLimited {
        /// The `retry-after` header in seconds. A spend cap has none.
        retry_after: Option<u64>,
    },
    /// 529 `overloaded_error`.
    Overloaded,
    /// 500 `api_error`.
    Internal,
    /// The status line itself is late.
    SlowFirstByte {
        /// The delay.
        by: Duration,
    },
    /// The reply begins and then stalls with the connection open.
    Stall {
        /// The number of events before the stall.
        after: usize,
        /// How long the stall lasts, after which the reply continues; `None` means until the client gives up.
        lasting: Option<Duration>,
    },
    /// The connection is reset within the reply.
    Reset {
        /// The number of events before the reset.
        after: usize,
    },
    /// The reply ends in the middle of an event, but properly as far as HTTP can tell.
    Truncate {
        /// The number of events before the end.
        after: usize,
    },
    /// JSON that cannot be parsed: the body, or the data of one event.
    Malformed {
        /// The number of events before the malformed one.
        after: usize,
    },
    /// An `error` event within a stream whose status was 200. A reply that is not streamed becomes a 529 instead.
    ErrorEvent {
        /// The number of events before the error.
        after: usize,
    },
}

impl InjectedFault {
    /// The error that the client gets instead of a reply, if this fault strikes before there is one. The call is then
    /// not carried out: nothing is billed and nothing is cached.
    pub fn refusal(&self) -> Option<ApiError> {
        let (status, kind, message, retry_after) = match *self {
            Self::RateLimited { retry_after } => (
                429,
                "rate_limit_error",
                "This request would exceed your organization's rate limit. Please try again later.",
                retry_after,
            ),
            Self::Overloaded => (529, "overloaded_error", "Overloaded", None),
            Self::Internal => (500, "api_error", "Internal server error", None),
            _ => return None,
        };
        Some(ApiError {
            status,
            kind,
            message: message.to_owned(),
            code: None,
            retry_after,
        })
    }

    /// The delay of the first byte.
    pub fn delay(&self) -> Option<Duration> {
        match self {
            Self::SlowFirstByte { by } => Some(*by),
            _ => None,
        }
    }
}

/// Parses one fault of a specification, such as `stall(after=3)`.
impl FromStr for InjectedFault {
    type Err = FaultSpecError;

    fn from_str(text: &str) -> Result<Self, FaultSpecError> {
        spec::fault(text.trim())
    }
}

/// Formats the fault as in a specification.
impl fmt::Display for InjectedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RateLimited {
                retry_after: Some(seconds),
            } => write!(f, "429(retry-after={seconds})"),
            Self::RateLimited { retry_after: None } => write!(f, "429(retry-after=none)"),
            Self::Overloaded => f.write_str("529"),
            Self::Internal => f.write_str("500"),
            Self::SlowFirstByte { by } => write!(f, "slow({}ms)", by.as_millis()),
            Self::Stall {
                after,
                lasting: None,
            } => write!(f, "stall(after={after})"),
            Self::Stall {
                after,
                lasting: Some(lasting),
            } => write!(f, "stall(after={after},for={}ms)", lasting.as_millis()),
            Self::Reset { after } => write!(f, "reset(after={after})"),
            Self::Truncate { after } => write!(f, "truncate(after={after})"),
            Self::Malformed { after } => write!(f, "malformed(after={after})"),
            Self::ErrorEvent { after } => write!(f, "error(after={after})"),
        }
    }
}

//! The gateway's own errors, in the format of the requested API, each with what to do next.

use http::header::{self, HeaderValue};
use http::{Response, StatusCode};
use longhaul_core::figures::{counted, grouped};
use longhaul_provider::Dialect;
use serde_json::json;

use crate::body::{LONGEST_MODEL, MOST_MESSAGES};
use crate::memory::BudgetExhausted;
use crate::own_body::{OwnBody, json_answer};
use crate::watch::RefusalClass;

/// Why a request cannot be passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GatewayRefusal {
    TooLarge {
        most: usize,
    },
    Busy {
        most: usize,
    },
    /// There is no memory for it.
    NoMemory {
        limit: usize,
    },
    TooManyMessages,
    LongModelName,
    SlowClient,
    ClientBroke,
    Stranger,
    /// It used a name that is not this machine's, or came from a foreign web page.
    Elsewhere,
    Unreachable {
        host: String,
        why: String,
    },
    /// The upstream is reachable, but a setting is wrong.
    Mismatch {
        host: String,
        why: String,
    },
    Broke {
        host: String,
        why: String,
    },
    Silent {
        host: String,
        seconds: u64,
    },
    Thread,
    /// It asks for another protocol on its connection.
    Upgrade,
    /// It asks for a policy that there is not.
    UnknownPolicy,
}

impl From<BudgetExhausted> for GatewayRefusal {
    fn from(BudgetExhausted { limit }: BudgetExhausted) -> Self {
        Self::NoMemory { limit }
    }
}

impl GatewayRefusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Busy { .. } | Self::NoMemory { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::SlowClient => StatusCode::REQUEST_TIMEOUT,
            Self::ClientBroke
            | Self::Thread
            | Self::TooManyMessages
            | Self::LongModelName
            | Self::UnknownPolicy => StatusCode::BAD_REQUEST,
            Self::Stranger => StatusCode::UNAUTHORIZED,
            Self::Elsewhere => StatusCode::FORBIDDEN,
            Self::Unreachable { .. } | Self::Mismatch { .. } | Self::Broke { .. } => {
                StatusCode::BAD_GATEWAY
            }
            Self::Silent { .. } => StatusCode::GATEWAY_TIMEOUT,
            // Clients then go on over plain HTTP.
            Self::Upgrade => StatusCode::UPGRADE_REQUIRED,
        }
    }

    /// The API's name for the error.
    fn kind(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "request_too_large",
            Self::Busy { .. } | Self::NoMemory { .. } => "overloaded_error",
            Self::SlowClient | Self::Silent { .. } => "timeout_error",
            Self::ClientBroke
            | Self::Thread
            | Self::TooManyMessages
            | Self::LongModelName
            | Self::UnknownPolicy
            | Self::Upgrade => "invalid_request_error",
            Self::Stranger => "authentication_error",
            Self::Elsewhere => "permission_error",
            Self::Unreachable { .. } | Self::Mismatch { .. } | Self::Broke { .. } => "api_error",
        }
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Self::TooLarge { most } => format!(
                "the request body is larger than {} bytes; send less, or start the gateway with a larger --max-body",
                grouped(*most as u64)
            ),
            Self::Busy { most } => format!(
                "the gateway has {} under way; try again, or start it with a larger --max-requests",
                counted(*most as u64, "request")
            ),
            Self::NoMemory { limit } => format!(
                "the gateway holds all of the {} bytes that it may hold at once; try again, or start it with a larger --max-memory",
                grouped(*limit as u64)
            ),
            Self::TooManyMessages => format!(
                "the request has more than {} messages, which is the most that the gateway accepts; send fewer, or ask for the policy `off`",
                grouped(MOST_MESSAGES as u64)
            ),
            Self::LongModelName => format!(
                "the name of the model is longer than {LONGEST_MODEL} bytes, which is the most that the gateway accepts; check `model`"
            ),
            Self::Elsewhere => {
                "this gateway is for programs on this machine: call it by its address, such as 127.0.0.1, or start it with --allow-host NAME for the name (of `host`, or of the page in `origin`) that you use".to_owned()
            }
            Self::SlowClient => {
                "the request body came too slowly; check the connection to the gateway".to_owned()
            }
            Self::ClientBroke => "the request body broke off; send the request again".to_owned(),
            Self::Unreachable { host, why } => format!(
                "the gateway cannot reach {host}: {why}; check --upstream and the network, then try again"
            ),
            Self::Stranger => {
                "this gateway is only for clients that have its token; send it in the header x-longhaul-token".to_owned()
            }
            Self::Mismatch { host, why } => {
                format!("the gateway cannot talk to {host}: {why}")
            }
            Self::Broke { host, why } => {
                format!("{host} broke off before it answered: {why}; try again")
            }
            Self::Silent { host, seconds } => {
                format!("{host} did not answer within {seconds} s; stream the answer, or try again")
            }
            Self::Upgrade => {
                "this gateway passes no WebSockets on; send the request over plain HTTP".to_owned()
            }
            Self::UnknownPolicy => {
                "the header x-longhaul-policy is neither `off`, `observe` nor `manage`; correct it, or leave it out".to_owned()
            }
            Self::Thread => "this gateway does not support threads that the server holds; send the whole history without `thread`, or ask for the policy `observe`".to_owned(),
        }
    }

    /// The class under which it is counted.
    pub(crate) fn counted(&self) -> RefusalClass {
        match self {
            Self::TooLarge { .. } => RefusalClass::TooLarge,
            Self::Busy { .. } => RefusalClass::Busy,
            Self::NoMemory { .. } => RefusalClass::NoMemory,
            Self::TooManyMessages | Self::LongModelName => RefusalClass::TooLarge,
            Self::Elsewhere => RefusalClass::Forbidden,
            Self::SlowClient | Self::ClientBroke => RefusalClass::SlowClient,
            Self::Stranger => RefusalClass::Forbidden,
            Self::Unreachable { .. } | Self::Mismatch { .. } | Self::Broke { .. } => {
                RefusalClass::Upstream
            }
            Self::Thread => RefusalClass::Thread,
            Self::Upgrade => RefusalClass::Upgrade,
            Self::UnknownPolicy => RefusalClass::Policy,
            Self::Silent { .. } => RefusalClass::UpstreamSilent,
        }
    }

    /// The response.
    pub(crate) fn answer(&self, dialect: Dialect) -> Response<OwnBody> {
        let (kind, message) = (self.kind(), format!("longhaul: {}", self.message()));
        let body = match dialect {
            // The code makes SDKs send the whole history (N8).
            Dialect::Anthropic if *self == Self::Thread => json!({"type": "error", "error": {
                "type": kind, "message": message, "details": {"error_code": "thread_unsupported_request"},
            }}),
            Dialect::Anthropic => {
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            Dialect::OpenAi => {
                json!({"error": {"message": message, "type": kind, "param": null, "code": kind}})
            }
        };
        let mut answer = json_answer(self.status(), &body);
        let headers = answer.headers_mut();
        if matches!(self, Self::Busy { .. } | Self::NoMemory { .. }) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        // The rest of the body will not be read.
        if matches!(
            self,
            Self::TooLarge { .. }
                | Self::NoMemory { .. }
                | Self::SlowClient
                | Self::ClientBroke
                | Self::Stranger
                | Self::Elsewhere
        ) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

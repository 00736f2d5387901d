//! What can go wrong between a request and its reply, in classes that a caller can act on.
//!
//! [`ErrorClass`] says what to do, the other fields of [`Error`] what to report. `error/classify.rs` classifies a
//! response, `error/overflow.rs` reads the numbers in a prompt-too-long message, and `retry.rs` decides when to retry.

use std::fmt;
use std::time::Duration;

use crate::reply::Reply;

mod classify;
mod overflow;
mod prompt_overflow;
mod response;

pub use prompt_overflow::PromptOverflow;
pub use response::{ErrorResponse, request_id};

/// Why a request got no reply, or only a part of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// The class of the failure.
    pub class: ErrorClass,
    /// The message of the server or the network, with keys removed.
    pub message: Box<str>,
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// The API's own error type, such as `overloaded_error`.
    pub kind: Option<Box<str>>,
    /// The API's code within that type, such as `thread_unsupported_request`.
    pub code: Option<Box<str>>,
    /// The server's id of the exchange.
    pub request_id: Option<Box<str>>,
    /// The server's advice on retrying, if it gives explicit advice.
    pub advice: Option<RetryAdvice>,
    /// How often the request was sent.
    pub attempts: u32,
    /// The part of the reply that had arrived.
    pub partial: Option<Box<Reply>>,
}

/// The classes of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorClass {
    /// A transient condition (no connection, a conflict): the same request may succeed.
    Retry {
        /// The wait that the server asked for.
        after: Option<Duration>,
    },
    /// The service has no capacity at the moment.
    Overloaded {
        /// The wait that the server asked for.
        after: Option<Duration>,
    },
    /// The account's rate limit is used up.
    RateLimited {
        /// The wait that the server asked for. `None` at a monthly spending cap, where waiting does not help.
        after: Option<Duration>,
    },
    /// The prompt does not fit the context window: shorten it (L1).
    TooLong(PromptOverflow),
    /// Credentials are missing or wrong, or do not permit the request.
    Auth,
    /// The account has to be paid or topped up.
    Billing,
    /// There is no such model, endpoint or object.
    NotFound,
    /// The request has too many bytes, regardless of its tokens.
    TooLarge,
    /// The server rejects the request as it is.
    Invalid,
    /// The server failed.
    Server {
        /// The wait that the server asked for.
        after: Option<Duration>,
    },
    /// Nothing arrived in time.
    Timeout(AwaitedStep),
    /// The reply broke off.
    Cut,
    /// An event of the reply cannot be read: it was damaged on its way.
    Damaged,
    /// The caller cancelled.
    Cancelled,
    /// The response is not what the API sends.
    Malformed,
}

/// What had not arrived when time was up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AwaitedStep {
    /// The connection.
    Connection,
    /// The first byte of the response.
    FirstByte,
    /// The next byte of a response that had begun.
    NextByte,
}

/// The server's explicit advice on retrying (`x-should-retry`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAdvice {
    /// Retry.
    Retry,
    /// Do not retry.
    Stop,
}

impl Error {
    /// Whether the server refuses thinking of the request: its signature is that of another model, key or conversation,
    /// or it is not where it was. The request may succeed without it. The texts are those of the Messages API, which
    /// Amazon's and Google's services pass on.
    pub fn refuses_thinking(&self) -> bool {
        let message = self.message.replace('`', "").to_ascii_lowercase();
        self.class == ErrorClass::Invalid
            && message.contains("thinking")
            && [
                "invalid signature in",
                "invalid data in",
                "blocks in the latest assistant message cannot be modified",
            ]
            .iter()
            .any(|wording| message.contains(wording))
    }

    /// An error with only a class and a message.
    pub fn new(class: ErrorClass, message: impl Into<Box<str>>) -> Self {
        Self {
            class,
            message: message.into(),
            status: None,
            kind: None,
            code: None,
            request_id: None,
            advice: None,
            attempts: 1,
            partial: None,
        }
    }

    /// Adds the part of the reply that had arrived.
    #[must_use]
    pub fn with_partial(mut self, partial: Reply) -> Self {
        self.request_id = self
            .request_id
            .or_else(|| partial.request_id.clone().map(Into::into));
        self.partial = Some(Box::new(partial));
        self
    }
}

impl ErrorClass {
    /// The wait that the server asked for, if it did.
    pub fn after(self) -> Option<Duration> {
        match self {
            Self::Retry { after }
            | Self::Overloaded { after }
            | Self::RateLimited { after }
            | Self::Server { after } => after,
            _ => None,
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.class)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        let status = self.status.map(|status| status.to_string());
        let name = |name: &Option<Box<str>>| name.as_deref().map(str::to_owned);
        let request = self.request_id.as_ref().map(|id| format!("request {id}"));
        let parts = [status, name(&self.kind), name(&self.code), request];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            write!(f, " ({})", parts.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Retry { .. } => "the request did not get through",
            Self::Overloaded { .. } => "the service is overloaded",
            Self::RateLimited { .. } => "the rate limit is reached",
            Self::TooLong(_) => "the prompt is too long",
            Self::Auth => "the credentials were refused",
            Self::Billing => "the account needs payment",
            Self::NotFound => "not found",
            Self::TooLarge => "the request has too many bytes",
            Self::Invalid => "the request was refused",
            Self::Server { .. } => "the server failed",
            Self::Timeout(AwaitedStep::Connection) => "no connection in time",
            Self::Timeout(AwaitedStep::FirstByte) => "no answer in time",
            Self::Timeout(AwaitedStep::NextByte) => "the answer stalled",
            Self::Cut => "the answer broke off",
            Self::Damaged => "the answer was damaged on its way",
            Self::Cancelled => "canceled",
            Self::Malformed => "the answer is not understood",
        })
    }
}

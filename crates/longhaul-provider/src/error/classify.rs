//! Turns an error response into an error, and decides its class.
//!
//! The status decides if there is one; type and code refine it, and replace it inside a stream. Texts are read only
//! where nothing else tells: prompts that are too long, and an exhausted balance that is reported as a 400.

use super::response::ErrorResponse;
use super::{Error, ErrorClass, overflow};

impl ErrorResponse {
    /// The error that this response reports.
    pub fn into_error(self) -> Error {
        Error {
            class: class_of(&self),
            message: self.message.into(),
            status: self.status,
            kind: self.kind.map(Into::into),
            code: self.code.map(Into::into),
            request_id: self.request_id.map(Into::into),
            advice: self.advice,
            attempts: 1,
            partial: None,
        }
    }
}

fn class_of(answer: &ErrorResponse) -> ErrorClass {
    let after = answer.after;
    let kind = answer.kind.as_deref().unwrap_or_default();
    let code = answer.code.as_deref().unwrap_or_default();
    if may_be_too_long(answer.status)
        && let Some(overflow) = overflow::find(answer)
    {
        return ErrorClass::TooLong(overflow);
    }
    if is_about_money(kind, code, &answer.message) {
        return ErrorClass::Billing;
    }
    if code == "compaction_unavailable" {
        return ErrorClass::Overloaded { after };
    }
    match (answer.status, by_name(kind, code, answer)) {
        // A proxy's 5xx around an upstream's "overloaded" is still overload, but a 400 is never more than its status.
        (
            Some(500..=599),
            Some(named @ (ErrorClass::Overloaded { .. } | ErrorClass::RateLimited { .. })),
        ) => named,
        (Some(status), named) => by_status(status, answer)
            .or(named)
            .unwrap_or(ErrorClass::Invalid),
        (None, named) => named.unwrap_or(ErrorClass::Server { after }),
    }
}

/// Whether the status allows for a prompt that is too long: some statuses clearly mean something else.
fn may_be_too_long(status: Option<u16>) -> bool {
    !matches!(status, Some(401..=404 | 429))
}

fn is_about_money(kind: &str, code: &str, message: &str) -> bool {
    kind == "billing_error"
        || [kind, code].contains(&"insufficient_quota")
        || message.contains("credit balance is too low")
}

fn by_status(status: u16, answer: &ErrorResponse) -> Option<ErrorClass> {
    let after = answer.after;
    Some(match status {
        401 | 403 | 407 => ErrorClass::Auth,
        402 => ErrorClass::Billing,
        404 => ErrorClass::NotFound,
        408 | 409 | 425 => ErrorClass::Retry { after },
        413 => ErrorClass::TooLarge,
        429 => ErrorClass::RateLimited { after },
        503 | 529 => ErrorClass::Overloaded { after },
        400..=499 => ErrorClass::Invalid,
        500..=599 => ErrorClass::Server { after },
        _ => return None,
    })
}

/// Classifies by type or code: the names of Anthropic, OpenAI, Google and Amazon.
fn by_name(kind: &str, code: &str, answer: &ErrorResponse) -> Option<ErrorClass> {
    let after = answer.after;
    let class = |name: &str| {
        Some(match name {
            "overloaded_error"
            | "UNAVAILABLE"
            | "ServiceUnavailableException"
            | "modelNotReadyException"
            | "ModelNotReadyException"
            | "engine_overloaded" => ErrorClass::Overloaded { after },
            "rate_limit_error"
            | "rate_limit_exceeded"
            | "RESOURCE_EXHAUSTED"
            | "ThrottlingException"
            | "throttlingException"
            | "tokens"
            | "requests" => ErrorClass::RateLimited { after },
            "authentication_error"
            | "permission_error"
            | "invalid_api_key"
            | "UNAUTHENTICATED"
            | "PERMISSION_DENIED"
            | "AccessDeniedException" => ErrorClass::Auth,
            "not_found_error" | "model_not_found" | "NOT_FOUND" | "ResourceNotFoundException" => {
                ErrorClass::NotFound
            }
            "conflict_error" => ErrorClass::Retry { after },
            "request_too_large" => ErrorClass::TooLarge,
            "invalid_request_error" | "INVALID_ARGUMENT" | "ValidationException" => {
                ErrorClass::Invalid
            }
            "api_error"
            | "timeout_error"
            | "server_error"
            | "INTERNAL"
            | "DEADLINE_EXCEEDED"
            | "InternalServerException"
            | "ModelTimeoutException"
            | "ModelStreamErrorException" => ErrorClass::Server { after },
            _ => return None,
        })
    };
    class(kind).or_else(|| class(code))
}

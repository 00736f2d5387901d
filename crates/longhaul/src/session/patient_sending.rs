//! Sends the request for a turn again until it is answered, for as long as the host has patience.
//!
//! No tool has run on a reply that broke off, because tools are run from whole replies. So the whole reply is asked for
//! again, and what had arrived of it is dropped. Summaries and notes are not sent from here: they have limits of their
//! own, and the turn that waits for them has other ways to go on.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::engine::ModelRequest;
use longhaul_provider::retry::{GiveUpReason, RetryDecision, RetryPatience};
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply, StreamEvent};
use tokio::time::Instant;

use super::Observer;
use crate::model::Model;

/// A wait before a request is sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryWait {
    /// What went wrong.
    pub class: ErrorClass,
    /// What the server or the network said about it.
    pub message: String,
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// How long the session waits.
    pub wait: Duration,
    /// The number of the attempt that follows the wait, from 2.
    pub attempt: u32,
}

impl RetryWait {
    /// A wait of which nothing else is known, for tests of observers.
    pub fn new(class: ErrorClass, wait: Duration, attempt: u32) -> Self {
        Self {
            class,
            message: String::new(),
            status: None,
            wait,
            attempt,
        }
    }
}

/// The error of the last attempt, with the reason why there is no other.
fn given_up(mut error: Error, attempt: u32, reason: GiveUpReason) -> Error {
    let mut more = String::new();
    if attempt > 1 {
        more = format!("; tried {attempt} times");
    }
    if let GiveUpReason::TooLongAWait(after) = reason {
        more.push_str(&format!("; the server asks to wait {} s", after.as_secs()));
    }
    error.message = format!("{}{more}", error.message).into();
    error
}

/// Sends a request until it is answered, until the failure is one that does not pass, until the patience is at its end,
/// or until the host cancels.
pub(super) async fn send_patiently(
    model: &dyn Model,
    request: ModelRequest,
    observer: &Arc<dyn Observer>,
    patience: Duration,
    cancel: CancellationToken,
) -> Result<Reply, Error> {
    let patience = RetryPatience::lasting(patience);
    let seed = RandomState::new().build_hasher().finish();
    let mut first_failure = None;
    let mut attempt = 1;
    loop {
        let mut begun = false;
        let mut on_stream = |event: &StreamEvent| {
            begun |= !matches!(event, StreamEvent::Ping);
            observer.stream(event);
        };
        let sent = model.send_once(request.clone(), &mut on_stream, cancel.clone());
        let mut error = match sent.await {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        error.attempts = error.attempts.max(1) + attempt - 1;
        let since = first_failure.get_or_insert_with(Instant::now).elapsed();
        let wait = match patience.decide(attempt, since, &error, seed) {
            RetryDecision::Wait(wait) => wait,
            RetryDecision::Stop(reason) => {
                tracing::debug!(attempt, ?reason, %error, "request failed");
                return Err(given_up(error, attempt, reason));
            }
        };
        tracing::debug!(attempt, ?wait, %error, "request failed, trying again");
        if begun {
            observer.stream(&StreamEvent::Restarted);
        }
        attempt += 1;
        observer.retrying(&RetryWait {
            message: error.message.into(),
            status: error.status,
            ..RetryWait::new(error.class, wait, attempt)
        });
        let waited = cancel.run_until_cancelled(tokio::time::sleep(wait)).await;
        if waited.is_none() {
            return Err(Error::new(ErrorClass::Cancelled, ""));
        }
    }
}

//! Asks the model for the engine: sends its requests, that for a turn again until it is answered, and converts what comes
//! back into the form that the engine expects.
//!
//! No tool has run on a reply that broke off, because tools are run from whole replies. So the whole reply is asked for
//! again, and what had arrived of it is dropped. Only turns have this patience: summaries and notes have limits of their
//! own, and the turn that waits for them has other ways to go on.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longhaul_core::engine::{
    EffectFailure, EffectFailureKind, EffectOutcome, ModelReply, ModelRequest, ReplyEnding,
    SummaryReply, Urgency,
};
use longhaul_core::micro::native::ProviderClearing;
use longhaul_core::summary::SummaryStop;
use longhaul_provider::error::AwaitedStep;
use longhaul_provider::retry::{GiveUpReason, RetryDecision, RetryPatience};
use longhaul_provider::{
    AppliedEdit, CancellationToken, Error, ErrorClass, Reply, StopReason, StreamEvent,
};
use tokio::time::Instant;

use super::Observer;
use super::effect_runner::EffectRunner;
use super::retry_wait::RetryWait;
use super::running_effects::EffectResult;
use crate::model::Model;

impl EffectRunner {
    /// Sends the request for the next turn.
    pub(super) async fn send(
        self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> EffectResult {
        let observer = self.observer;
        let sent = if self.patience.is_zero() {
            let mut on_stream = move |event: &StreamEvent| observer.stream(event);
            self.model.send(request, &mut on_stream, cancel).await
        } else {
            send_patiently(&*self.model, request, &observer, self.patience, cancel).await
        };
        match sent.and_then(model_reply) {
            Ok((reply, for_engine)) => EffectResult {
                outcome: EffectOutcome::Replied(Box::new(for_engine)),
                reply: Some(Box::new(reply)),
            },
            Err(error) => EffectOutcome::Failed(failed(&error)).into(),
        }
    }

    /// Sends the request for a summary. If the turn waits for it, the observer is told how it grows.
    pub(super) async fn summarize(
        self,
        request: ModelRequest,
        urgency: Urgency,
        cancel: CancellationToken,
    ) -> EffectOutcome {
        let observer = self.observer;
        let mut characters = 0;
        let mut on_stream = move |event: &StreamEvent| {
            if let (StreamEvent::Text { text, .. }, Urgency::Awaited) = (event, urgency) {
                characters += text.len();
                observer.summarizing(characters);
            }
        };
        let answer = self.model.send(request, &mut on_stream, cancel).await;
        match answer {
            Ok(reply) => EffectOutcome::Summarized(Box::new(summary_reply(reply))),
            Err(error) => EffectOutcome::Failed(failed(&error)),
        }
    }
}

/// Sends a request until it is answered, until the failure is one that does not pass, until the patience is at its end,
/// or until the host cancels.
async fn send_patiently(
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
        let heard = LastHeard::default();
        let mut on_stream = |event: &StreamEvent| {
            begun |= !matches!(event, StreamEvent::Ping);
            heard.now();
            observer.stream(event);
        };
        let sent = model.send_once(request.clone(), &mut on_stream, cancel.clone());
        let sent = tokio::select! {
            sent = sent => sent,
            () = heard.nothing_for(patience.total) => Err(stalled(patience.total)),
        };
        let mut error = match sent {
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

/// When the last event of a reply came; `None` before the first.
#[derive(Default)]
struct LastHeard(Mutex<Option<Instant>>);

impl LastHeard {
    fn slot(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) {
        *self.slot() = Some(Instant::now());
    }

    /// Returns when a reply that had begun has brought nothing for this long.
    async fn nothing_for(&self, limit: Duration) {
        loop {
            let heard = *self.slot();
            let until = heard.unwrap_or_else(Instant::now) + limit;
            if heard.is_some() && until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }
}

/// The error for a reply that stalled for longer than the session is patient.
fn stalled(limit: Duration) -> Error {
    let class = ErrorClass::Timeout(AwaitedStep::NextByte);
    Error::new(class, format!("nothing came for {limit:?}"))
}

/// The error of the last attempt, with the reason why there is no other.
fn given_up(mut error: Error, attempt: u32, reason: GiveUpReason) -> Error {
    let mut more = String::new();
    if attempt > 1 {
        more = format!("; tried {attempt} times");
    }
    if let GiveUpReason::TooLongAWait(after) = reason {
        more.push_str(&format!("; the server asks to wait {}", waiting(after)));
    }
    error.message = format!("{}{more}", error.message).into();
    error
}

/// A wait in words: in minutes where nobody counts seconds.
fn waiting(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

/// A reply in a turn of the conversation: for the host, and in the form that the engine expects.
fn model_reply(reply: Reply) -> Result<(Reply, ModelReply), Error> {
    let message = serde_json::from_slice(&reply.message_json());
    let message = message.map_err(|error| {
        Error::new(
            ErrorClass::Malformed,
            format!("the reply cannot be kept: {error}"),
        )
    })?;
    let applied = reply
        .applied_edits
        .iter()
        .fold(ProviderClearing::default(), sum);
    let for_engine = ModelReply {
        message,
        usage: reply.usage.clone(),
        request_id: reply.request_id.clone(),
        applied,
        ending: match reply.stop {
            Some(StopReason::ContextWindowExceeded) => ReplyEnding::WindowExceeded,
            _ => ReplyEnding::Complete,
        },
    };
    Ok((reply, for_engine))
}

/// A reply to a request for a summary, in the form that the engine expects.
pub fn summary_reply(reply: Reply) -> SummaryReply {
    SummaryReply {
        message: serde_json::from_slice(&reply.message_json()).ok(),
        text: reply.text(),
        calls: reply.tool_calls().count(),
        stop: match reply.stop {
            Some(StopReason::MaxTokens) | None => SummaryStop::CutOff,
            Some(StopReason::ContextWindowExceeded) => SummaryStop::WindowFull,
            Some(StopReason::ToolUse) => SummaryStop::ToolUse,
            Some(StopReason::Refusal) => SummaryStop::Refusal,
            Some(_) => SummaryStop::Finished,
        },
        usage: Some(reply.usage),
    }
}

fn sum(sum: ProviderClearing, edit: &AppliedEdit) -> ProviderClearing {
    match edit {
        AppliedEdit::ToolUses { cleared, tokens } => ProviderClearing {
            tool_uses: sum.tool_uses + cleared,
            input_tokens: sum.input_tokens + tokens,
            ..sum
        },
        AppliedEdit::Thinking { turns, tokens } => ProviderClearing {
            thinking_turns: sum.thinking_turns + turns,
            input_tokens: sum.input_tokens + tokens,
            ..sum
        },
        // An edit that we do not know: what it freed is not known either.
        _ => sum,
    }
}

/// What a failure means to the engine.
fn failed(error: &Error) -> EffectFailure {
    let kind = match error.class {
        // The client has already tried it several times.
        ErrorClass::Overloaded { .. } | ErrorClass::Server { .. } if error.attempts > 1 => {
            EffectFailureKind::Overloaded
        }
        ErrorClass::Retry { .. } | ErrorClass::Timeout(_) if error.attempts > 1 => {
            EffectFailureKind::Network
        }
        ErrorClass::TooLong(overflow) => EffectFailureKind::TooLong {
            gap: overflow.gap(),
        },
        ErrorClass::TooLarge => EffectFailureKind::TooLong { gap: None },
        ErrorClass::Cancelled => EffectFailureKind::Cancelled,
        ErrorClass::Cut
        | ErrorClass::Damaged
        | ErrorClass::Timeout(_)
        | ErrorClass::Retry { .. }
        | ErrorClass::Overloaded { .. }
        | ErrorClass::Server { .. }
        | ErrorClass::Malformed => EffectFailureKind::Transient,
        ErrorClass::RateLimited { .. } => EffectFailureKind::RateLimited,
        ErrorClass::Auth => EffectFailureKind::Auth,
        ErrorClass::Billing => EffectFailureKind::Billing,
        ErrorClass::NotFound => EffectFailureKind::NotFound,
        ErrorClass::Invalid if error.refuses_thinking() => EffectFailureKind::InvalidThinking,
        ErrorClass::Invalid => EffectFailureKind::Invalid,
        // A class that came later: the message says what is wrong.
        _ => EffectFailureKind::Other,
    };
    let retry_after = match error.class {
        ErrorClass::Retry { after }
        | ErrorClass::Overloaded { after }
        | ErrorClass::RateLimited { after }
        | ErrorClass::Server { after } => after,
        _ => None,
    };
    EffectFailure {
        kind,
        message: error.to_string(),
        retry_after,
    }
}

//! The trait for models, which answer a request that is already built.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use longhaul_core::engine::{EffectFailure, EffectFailureKind, ModelRequest};
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply, StreamEvent};

/// A boxed future, so that these traits can be trait objects.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A callback that receives a reply as it comes.
pub type OnStream<'a> = &'a mut (dyn FnMut(&StreamEvent) + Send);

/// Answers requests.
///
/// An implementer sends the body unchanged, byte for byte: the prompt cache and signatures depend on it. It ends soon
/// after `cancel`, with [`ErrorClass::Cancelled`]. It may retry by itself, but not a request that is too long.
pub trait Model: Send + Sync {
    /// Sends a request and waits for the whole reply.
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>>;

    /// Sends a request once and waits for the whole reply. A session that was given
    /// [patience](crate::SessionBuilder::patience) calls this for its turns and retries by itself, so that its observer
    /// can show each wait. An implementer whose [`send`](Self::send) retries overrides this; the default is `send`.
    fn send_once<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        self.send(request, on_stream, cancel)
    }

    /// Whether the provider runs its own web search (`web_search_20250305`) within a reply to requests that carry it. The
    /// default is that it does not.
    fn runs_web_searches(&self) -> bool {
        false
    }
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        M::send(self, request, on_stream, cancel)
    }

    fn send_once<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        M::send_once(self, request, on_stream, cancel)
    }

    fn runs_web_searches(&self) -> bool {
        M::runs_web_searches(self)
    }
}

/// Makes a model of an async function from requests to replies: for a provider that this library does not speak to, or
/// for a model in a test. The reply is reported to the session's observer once it is complete.
///
/// ```
/// use longhaul::{Prompt, Reply, Session, model_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut session = Session::builder()
///     .model(model_fn(|_request| async { Ok(Reply::from_text("Hello.")) }))
///     .prompt(Prompt::new("claude-sonnet-4-6", "You are polite."))
///     .open()?;
/// session.say("Good morning.").await?;
/// assert_eq!(session.turn().await?.text(), "Hello.");
/// # Ok(())
/// # }
/// ```
pub fn model_fn<F, Answer>(answer: F) -> ModelFn<F>
where
    F: Fn(ModelRequest) -> Answer + Send + Sync,
    Answer: Future<Output = Result<Reply, Error>> + Send + 'static,
{
    ModelFn(answer)
}

/// A model that [`model_fn`] made.
#[derive(Debug, Clone, Copy)]
pub struct ModelFn<F>(F);

impl<F, Answer> Model for ModelFn<F>
where
    F: Fn(ModelRequest) -> Answer + Send + Sync,
    Answer: Future<Output = Result<Reply, Error>> + Send + 'static,
{
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let answer = (self.0)(request);
        Box::pin(async move {
            let reply = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    return Err(Error::new(ErrorClass::Cancelled, "the request was cancelled"));
                }
                reply = answer => reply?,
            };
            for event in reply.to_stream_events() {
                on_stream(&event);
            }
            Ok(reply)
        })
    }
}

/// What a failure means to the engine.
pub(crate) fn failed(error: &Error) -> EffectFailure {
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
        | ErrorClass::Timeout(_)
        | ErrorClass::Retry { .. }
        | ErrorClass::Overloaded { .. }
        | ErrorClass::Server { .. }
        | ErrorClass::Malformed => EffectFailureKind::Transient,
        ErrorClass::RateLimited { .. } => EffectFailureKind::RateLimited,
        ErrorClass::Auth => EffectFailureKind::Auth,
        ErrorClass::Billing => EffectFailureKind::Billing,
        ErrorClass::NotFound => EffectFailureKind::NotFound,
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

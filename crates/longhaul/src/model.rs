//! Models for a session: the trait for them, and async functions as models.

use longhaul_core::engine::ModelRequest;
pub use longhaul_provider::{Boxed, Model, OnStream};
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply};

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
                    return Err(Error::new(ErrorClass::Cancelled, "the request was canceled"));
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

//! A genai client as the model of a session.

use std::hash::{BuildHasher, Hasher, RandomState};

use futures_util::StreamExt;
use genai::Client;
use genai::chat::ChatOptions;
use longhaul::{
    Boxed, CancellationToken, Model, ModelError, ModelErrorClass, ModelRequest, OnStream, Reply,
    StreamEvent,
};
use longhaul_provider::ClientTimeouts;
use longhaul_provider::retry::{RetryDecision, RetryPolicy};
use serde_json::Value;

use crate::breakpoints::BreakpointPolicy;
use crate::reply::ReplyFold;
use crate::{failure, request};

/// A model of any provider that genai speaks to.
///
/// Which provider that is follows from the model's name in the session's prompt, as genai has it: `gpt-…` is OpenAI's,
/// `gemini-…` Google's, and `groq::llama-…` names the provider itself. The client can be bound to another provider,
/// endpoint or key with the methods of its builder.
///
/// A request that fails before anything of its reply was reported is repeated, as by the library's own client.
#[derive(Debug, Clone)]
pub struct GenaiModel {
    client: Client,
    options: ChatOptions,
    retry: RetryPolicy,
    seed: u64,
}

impl GenaiModel {
    /// A model that is reached with this client. [`client_builder`](crate::client_builder) makes one with TLS.
    pub fn new(client: Client) -> Self {
        let timeouts = ClientTimeouts::default();
        Self {
            client,
            options: ChatOptions::default()
                .with_stream_header_timeout(timeouts.first_byte)
                .with_stream_read_timeout(timeouts.silence),
            retry: RetryPolicy::default(),
            seed: RandomState::new().build_hasher().finish(),
        }
    }

    /// Options for every request, such as the effort of reasoning. What the session's request says itself, as its
    /// `max_tokens`, takes precedence. Timeouts that are not set stay as they are.
    #[must_use]
    pub fn with_options(mut self, options: ChatOptions) -> Self {
        let before = self.options;
        self.options = ChatOptions {
            stream_header_timeout: options
                .stream_header_timeout
                .or(before.stream_header_timeout),
            stream_read_timeout: options.stream_read_timeout.or(before.stream_read_timeout),
            ..options
        };
        self
    }

    /// When a failed request is repeated.
    #[must_use]
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    async fn answer(
        &self,
        request: &ModelRequest,
        on_stream: OnStream<'_>,
    ) -> Result<Reply, ModelError> {
        let body = (request.body_value()).map_err(|error| failure::invalid(error.to_string()))?;
        let model = request::model(&body)?;
        let mut attempt = 1;
        loop {
            let mut fold = ReplyFold::new(model);
            let sent = self.attempt(model, &body, &mut fold, on_stream);
            let mut error = match sent.await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            error.attempts = attempt;
            match self.retry.decide(attempt, &error, self.seed) {
                RetryDecision::Wait(time) if !fold.has_begun() => tokio::time::sleep(time).await,
                _ => return Err(error),
            }
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        model: &str,
        body: &Value,
        fold: &mut ReplyFold,
        on_stream: &mut (dyn FnMut(&StreamEvent) + Send),
    ) -> Result<Reply, ModelError> {
        // Resolved for each attempt: a key may be one that expires.
        let target = (self.client.resolve_service_target(model).await)
            .map_err(|error| failure::from_genai(&error, None))?;
        let key = target.auth.single_key_value().ok();
        let translated = |error| failure::from_genai(&error, key.as_deref());
        let breakpoints = BreakpointPolicy::for_adapter(target.model.adapter_kind);
        let chat = request::chat_request(body, breakpoints)?;
        let options = request::chat_options(body, &self.options)?;
        let sent = (self.client).exec_chat_stream(model, chat, Some(&options));
        let mut stream = sent.await.map_err(translated)?.stream;
        while let Some(event) = stream.next().await {
            if let Some(reply) = fold.event(event.map_err(translated)?, on_stream) {
                return Ok(reply);
            }
        }
        Err(ModelError::new(
            ModelErrorClass::Cut,
            "the stream ended before the reply did",
        ))
    }
}

impl Model for GenaiModel {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    Err(ModelError::new(ModelErrorClass::Cancelled, "the request was canceled"))
                }
                reply = self.answer(&request, on_stream) => reply,
            }
        })
    }
}

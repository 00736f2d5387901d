//! How work is stopped: one token that the model, the hooks and the tools of a conversation all look at.
//!
//! A session makes itself a fresh token when the old one is spent. A stop that came between two of its steps would be
//! lost so; here it holds until the work on the prompt has ended.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul::hooks::{HookCall, HookFuture, Hooks};
use longhaul::{Boxed, Model, OnStream};
use longhaul_core::engine::{Outgoing, Urgency};
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply};

/// The token that counts now, and why the model failed last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steering {
    token: Arc<Mutex<CancellationToken>>,
    failed: Arc<Mutex<Option<ErrorClass>>>,
}

impl Steering {
    pub(crate) fn by(token: CancellationToken) -> Self {
        Self {
            token: Arc::new(Mutex::new(token)),
            failed: Arc::default(),
        }
    }

    pub(crate) fn token(&self) -> CancellationToken {
        self.slot().clone()
    }

    /// The token for what comes next: a spent one is replaced.
    pub(crate) fn fresh(&self) -> CancellationToken {
        let mut slot = self.slot();
        if slot.is_cancelled() {
            *slot = CancellationToken::new();
        }
        slot.clone()
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, CancellationToken> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops what is going on.
    pub(crate) fn stop(&self) {
        self.slot().cancel();
    }

    /// Why the last request failed; none if it did not.
    pub(crate) fn failed(&self) -> Option<ErrorClass> {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, failed: Option<ErrorClass>) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = failed;
    }
}

/// A model whose answers end when the work is stopped.
pub(crate) struct SteeredModel {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) steering: Steering,
}

impl Model for SteeredModel {
    fn send<'a>(
        &'a self,
        request: Outgoing,
        on_stream: OnStream<'a>,
        own: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        // What nobody waits for, notes and summaries ahead of their time, is not the user's to stop.
        if request.urgency == Urgency::Background {
            return self.model.send(request, on_stream, own);
        }
        let token = self.steering.token();
        if token.is_cancelled() {
            return Box::pin(async { Err(Error::new(ErrorClass::Cancelled, "cancelled")) });
        }
        Box::pin(async move {
            let sent = self.model.send(request, on_stream, token).await;
            self.steering
                .note(sent.as_ref().err().map(|error| error.class));
            sent
        })
    }
}

/// Hooks that end when the work is stopped.
pub(crate) struct SteeredHooks {
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) steering: Steering,
}

impl Hooks for SteeredHooks {
    fn run<'a>(&'a self, call: &'a HookCall) -> HookFuture<'a> {
        let call = call.clone().with_cancel(self.steering.token());
        Box::pin(async move { self.hooks.run(&call).await })
    }
}

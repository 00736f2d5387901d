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

    /// What failed before is no matter of what comes next.
    pub(crate) fn forget_failure(&self) {
        self.note(None);
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

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_core::window::QuerySource;

    /// Fails at once, saying whether it was asked to stop.
    struct Looks;

    impl Model for Looks {
        fn send<'a>(
            &'a self,
            _: Outgoing,
            _: OnStream<'a>,
            token: CancellationToken,
        ) -> Boxed<'a, Result<Reply, Error>> {
            let class = match token.is_cancelled() {
                true => ErrorClass::Cancelled,
                false => ErrorClass::Invalid,
            };
            Box::pin(async move { Err(Error::new(class, "no")) })
        }
    }

    #[tokio::test]
    async fn q1_a_stop_ends_what_the_user_waits_for_and_nothing_else() {
        let steered = SteeredModel {
            model: Arc::new(Looks),
            steering: Steering::default(),
        };
        steered.steering.stop();
        let ask = |urgency| Outgoing {
            source: QuerySource::COMPACT,
            body: Vec::new(),
            betas: Vec::new(),
            urgency,
        };
        let mut unheard = |_: &_| {};
        for (urgency, class) in [
            (Urgency::Awaited, ErrorClass::Cancelled),
            (Urgency::Background, ErrorClass::Invalid),
        ] {
            let token = CancellationToken::new();
            let sent = steered.send(ask(urgency), &mut unheard, token).await;
            assert_eq!(sent.unwrap_err().class, class);
        }
        // The next prompt is not stopped by the last stop.
        assert!(!steered.steering.fresh().is_cancelled());
    }
}

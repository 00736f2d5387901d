//! All kinds of hooks together: configured commands and hooks written in Rust.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;

use super::call::{DEFAULT_TIMEOUT, HookFuture, HookInvocation, Hooks};
use super::event::HookEvent;
use super::outcome::{HookFailure, HookResponse};
use super::overflow;

/// All hooks of a session. They run side by side; their answers are combined in the order in which the hooks were
/// added.
///
/// A hook written in Rust may panic or hang: it is reported like a command that fails or takes too long (K2). Only a
/// hook that blocks its thread cannot be stopped.
#[derive(Clone, Default)]
pub struct HookSet {
    members: Vec<HookSetMember>,
}

#[derive(Clone)]
struct HookSetMember {
    name: String,
    /// Commands have time limits of their own.
    limit: Option<Duration>,
    hooks: Arc<dyn Hooks>,
}

impl HookSet {
    /// An empty set.
    pub fn new() -> HookSet {
        HookSet::default()
    }

    /// Adds hooks that have time limits of their own.
    #[cfg(feature = "hooks")]
    pub(super) fn with_own_limits(mut self, name: &str, hooks: Arc<dyn Hooks>) -> HookSet {
        self.members.push(HookSetMember {
            name: name.to_owned(),
            limit: None,
            hooks,
        });
        self
    }

    /// Adds hooks written in Rust; errors call them by this name. They get the time that a command gets by default.
    #[must_use]
    pub fn with(self, name: impl Into<String>, hooks: Arc<dyn Hooks>) -> HookSet {
        self.with_timeout(name, hooks, DEFAULT_TIMEOUT)
    }

    /// Adds hooks written in Rust that get this much time.
    #[must_use]
    pub fn with_timeout(
        mut self,
        name: impl Into<String>,
        hooks: Arc<dyn Hooks>,
        limit: Duration,
    ) -> HookSet {
        self.members.push(HookSetMember {
            name: name.into(),
            limit: Some(limit),
            hooks,
        });
        self
    }
}

impl Hooks for HookSet {
    fn run<'a>(&'a self, call: &'a HookInvocation) -> HookFuture<'a> {
        Box::pin(async move {
            let members = self.members.iter().map(|member| member.run(call));
            HookResponse::merged(join_all(members).await)
        })
    }

    fn commands(&self, event: &HookEvent) -> Vec<String> {
        let members = self.members.iter();
        members
            .flat_map(|member| member.hooks.commands(event))
            .collect()
    }
}

impl HookSetMember {
    async fn run(&self, call: &HookInvocation) -> HookResponse {
        let event = call.input.event.name();
        // The call itself may panic too, before there is a future.
        let answer = AssertUnwindSafe(async { self.hooks.run(call).await }).catch_unwind();
        let Some(limit) = self.limit else {
            return answer
                .await
                .unwrap_or_else(|_| HookResponse::failed(&self.name, HookFailure::Panicked));
        };
        let outcome = tokio::select! {
            biased;
            answer = answer => answer.unwrap_or_else(|_| HookResponse::failed(&self.name, HookFailure::Panicked)),
            () = call.cancel.cancelled() => HookResponse { cancelled: true, ..HookResponse::default() },
            () = tokio::time::sleep(limit) => HookResponse::failed(&self.name, HookFailure::TimedOut(limit)),
        };
        let folder = call.overflow.clone();
        overflow::bounded(outcome.within(event), event, &self.name, folder).await
    }
}

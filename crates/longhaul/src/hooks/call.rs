//! The trait for hooks: what a hook is called with, and what an implementer must guarantee.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::event::{HookEvent, HookInput};
use super::outcome::HookResponse;

/// What [`Hooks::run`] returns: a boxed future, so that hooks can be trait objects.
pub type HookFuture<'a> = Pin<Box<dyn Future<Output = HookResponse> + Send + 'a>>;

/// Receives events and may answer them.
///
/// An implementer always returns a [`HookResponse`]; failures go into [`HookResponse::errors`]. It should end soon
/// after [`HookInvocation::cancel`]; a [`HookSet`](super::HookSet) waits no longer than that. It must not block the
/// thread. Whatever an answer to this event cannot do (block something that has already happened) is removed from it.
pub trait Hooks: Send + Sync {
    /// Reports one event and waits for the answer.
    fn run<'a>(&'a self, call: &'a HookInvocation) -> HookFuture<'a>;

    /// The commands that would run for this event, for people who wait for them. Hooks that are no commands name none.
    fn commands(&self, _event: &HookEvent) -> Vec<String> {
        Vec::new()
    }
}

impl<H: Hooks + ?Sized> Hooks for Arc<H> {
    fn commands(&self, event: &HookEvent) -> Vec<String> {
        H::commands(self, event)
    }

    fn run<'a>(&'a self, call: &'a HookInvocation) -> HookFuture<'a> {
        H::run(self, call)
    }
}

/// One event that is passed to the hooks.
#[derive(Debug, Clone)]
pub struct HookInvocation {
    /// The event, with its fields.
    pub input: HookInput,
    /// Ends the hooks early; the processes that they started are killed.
    pub cancel: CancellationToken,
    /// The folder for output that is too long for the conversation; without one only its beginning is kept.
    pub overflow: Option<PathBuf>,
}

/// How long a hook may take if nothing else is said.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

impl HookInvocation {
    /// An invocation that cannot be cancelled and that keeps no long output.
    pub fn new(input: HookInput) -> HookInvocation {
        HookInvocation {
            input,
            cancel: CancellationToken::new(),
            overflow: None,
        }
    }

    /// Sets the token that cancels it.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> HookInvocation {
        self.cancel = cancel;
        self
    }

    /// Sets the folder for long output.
    #[must_use]
    pub fn with_overflow(mut self, folder: impl Into<PathBuf>) -> HookInvocation {
        self.overflow = Some(folder.into());
        self
    }
}

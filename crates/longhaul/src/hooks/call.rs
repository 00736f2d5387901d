//! The seam: what a hook is called with and what whoever implements one owes.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::event::HookInput;
use super::outcome::HookResponse;

/// What [`Hooks::run`] returns: a future in a box, so that hooks can be trait objects.
pub type HookFuture<'a> = Pin<Box<dyn Future<Output = HookResponse> + Send + 'a>>;

/// Something that wants to hear of events and may answer.
///
/// An implementer returns an [`Outcome`] and nothing worse: trouble goes into [`Outcome::errors`]. It should end soon
/// after [`HookCall::cancel`]; a [`HookSet`](super::HookSet) waits no longer than that. It must not block the
/// thread. What an event cannot do (block what has happened already) is taken out of its answer.
pub trait Hooks: Send + Sync {
    /// Tells of one event and waits for the answer.
    fn run<'a>(&'a self, call: &'a HookInvocation) -> HookFuture<'a>;
}

impl<H: Hooks + ?Sized> Hooks for Arc<H> {
    fn run<'a>(&'a self, call: &'a HookInvocation) -> HookFuture<'a> {
        H::run(self, call)
    }
}

/// One event on its way to the hooks.
#[derive(Debug, Clone)]
pub struct HookInvocation {
    /// What they are told.
    pub input: HookInput,
    /// Ends them early; what they started is killed.
    pub cancel: CancellationToken,
    /// The folder for output that is too long for the conversation; without one only its beginning is kept.
    pub overflow: Option<PathBuf>,
}

impl HookInvocation {
    /// A call that nobody cancels and that keeps no long output.
    pub fn new(input: HookInput) -> HookInvocation {
        HookInvocation {
            input,
            cancel: CancellationToken::new(),
            overflow: None,
        }
    }

    /// With something to cancel it by.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> HookInvocation {
        self.cancel = cancel;
        self
    }

    /// With a folder for long output.
    #[must_use]
    pub fn with_overflow(mut self, folder: impl Into<PathBuf>) -> HookInvocation {
        self.overflow = Some(folder.into());
        self
    }
}

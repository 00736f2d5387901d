//! The trait for models, which answer a request that is already built. The client is one (`client/mod.rs`).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use longhaul_core::engine::ModelRequest;

use crate::{CancellationToken, Error, Reply, StreamEvent};

/// A boxed future, so that a trait with async methods can be a trait object.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A callback that receives a reply as it comes.
pub type OnStream<'a> = &'a mut (dyn FnMut(&StreamEvent) + Send);

/// Answers requests.
///
/// An implementer sends the body unchanged, byte for byte: the prompt cache and signatures depend on it. It ends soon
/// after `cancel`, with [`ErrorClass::Cancelled`](crate::ErrorClass::Cancelled). It may retry by itself, but not a request that is too long.
pub trait Model: Send + Sync {
    /// Sends a request and waits for the whole reply.
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>>;

    /// Sends a request once and waits for the whole reply. A session that was given patience calls this for its turns and
    /// retries by itself, so that its observer can show each wait. An implementer whose [`send`](Self::send) retries
    /// overrides this; the default is `send`.
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

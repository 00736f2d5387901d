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

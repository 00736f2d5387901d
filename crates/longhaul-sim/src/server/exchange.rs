//! Serves a model call: the call is numbered, then struck by a fault or answered by the world.

use std::sync::Arc;

use super::lock::lock;
use super::rate::RateRemaining;
use super::shared::SimServerState;
use crate::call::{ApiCall, ApiError, VirtualMillis};
use crate::faults::InjectedFault;
use crate::reply::ApiReply;
use crate::world::World;

/// The outcome of a call.
#[derive(Debug)]
pub(super) struct ServedCall {
    pub(super) request_id: String,
    pub(super) outcome: Result<ApiReply, ApiError>,
    /// The fault of the delivery, if any.
    pub(super) fault: Option<InjectedFault>,
    pub(super) left: RateRemaining,
    pub(super) now: VirtualMillis,
}

/// Makes a call.
pub(super) async fn exchange(shared: &Arc<SimServerState>, call: ApiCall) -> ServedCall {
    let fault = shared.next_fault();
    let refused = fault.and_then(|fault| fault.refusal());
    let (request_id, outcome, now) = match refused {
        Some(error) => {
            let now = shared.with_world(|world| world.now());
            (shared.request_id(), Err(error), now)
        }
        None => in_world(shared, move |world| {
            let outcome = world.messages(&call);
            let request_id = match &outcome {
                Ok(reply) => Some(reply.request_id.clone()),
                Err(_) => world.usage_log().last().map(|last| last.request_id.clone()),
            };
            (request_id.unwrap_or_default(), outcome, world.now())
        })
        .await
        .unwrap_or_else(|error| (shared.request_id(), Err(error), VirtualMillis::default())),
    };
    // Faults requested over the control API take precedence over those of the script.
    let scripted = outcome.as_ref().ok().and_then(|reply| reply.fault);
    let fault = fault.or(scripted);
    // There is no stream that an event could interrupt.
    let outcome = match (fault, outcome) {
        (Some(InjectedFault::ErrorEvent { .. }), Ok(reply)) if !reply.stream => Err(overloaded()),
        (_, outcome) => outcome,
    };
    let usage = outcome.as_ref().ok().map(|reply| &reply.usage);
    let mut left = lock(&shared.rate).count(now, usage);
    if outcome.as_ref().is_err_and(|error| error.status == 429) {
        left = left.nothing();
    }
    ServedCall {
        request_id,
        outcome,
        fault,
        left,
        now,
    }
}

/// Asks the world on a thread where it may take its time: counting a long prompt takes longer than a connection may be
/// held up. If the world panics, the answer is a 500.
pub(super) async fn in_world<T: Send + 'static>(
    shared: &Arc<SimServerState>,
    ask: impl FnOnce(&mut World) -> T + Send + 'static,
) -> Result<T, ApiError> {
    let shared = Arc::clone(shared);
    let asked = tokio::task::spawn_blocking(move || shared.with_world(ask)).await;
    asked.map_err(|error| {
        tracing::error!(%error, "the simulator panicked");
        ApiError {
            status: 500,
            kind: "api_error",
            ..ApiError::invalid("Internal server error")
        }
    })
}

/// The error that interrupts a stream.
pub(super) fn overloaded() -> ApiError {
    ApiError {
        status: 529,
        kind: "overloaded_error",
        ..ApiError::invalid("Overloaded")
    }
}

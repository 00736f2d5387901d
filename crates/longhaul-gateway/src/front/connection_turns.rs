//! Whose turn it is on a connection: the client's, to send request headers, or the gateway's. The socket
//! (`timed_socket`) asks, the service sets it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame, SizeHint};

use super::response_body::ClientBody;
use crate::own_body::BodyInterrupted;

/// Whose turn it is on a connection. Clones refer to the same connection.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionTurns(Arc<ConnectionTurnState>);

#[derive(Debug, Default)]
struct ConnectionTurnState {
    are_ours: AtomicBool,
    heads: AtomicU64,
}

impl ConnectionTurns {
    /// Request headers were read: it is the gateway's turn until the returned value is dropped.
    pub(super) fn ours(&self) -> GatewayTurn {
        self.0.heads.fetch_add(1, Ordering::Relaxed);
        self.0.are_ours.store(true, Ordering::Relaxed);
        GatewayTurn(self.clone())
    }

    pub(super) fn are_ours(&self) -> bool {
        self.0.are_ours.load(Ordering::Relaxed)
    }

    /// How many requests' headers were read so far.
    pub(super) fn heads(&self) -> u64 {
        self.0.heads.load(Ordering::Relaxed)
    }
}

/// The gateway's turn, until this is dropped.
#[derive(Debug)]
pub(super) struct GatewayTurn(ConnectionTurns);

impl GatewayTurn {
    /// Makes the turn last until the end of this response.
    pub(super) fn until_the_end_of(self, answer: Response<ClientBody>) -> Response<ServedBody> {
        answer.map(|body| ServedBody { body, _turn: self })
    }
}

impl Drop for GatewayTurn {
    fn drop(&mut self) {
        self.0.0.are_ours.store(false, Ordering::Relaxed);
    }
}

/// A response body that ends the gateway's turn.
#[derive(Debug)]
pub(super) struct ServedBody {
    body: ClientBody,
    _turn: GatewayTurn,
}

impl Body for ServedBody {
    type Data = Bytes;
    type Error = BodyInterrupted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyInterrupted>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

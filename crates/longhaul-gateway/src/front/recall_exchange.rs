//! A client's request that is sent again, with a longer history, as often as the model looks something up.

use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{Request, Response};
use http_body_util::BodyExt;
use tokio::sync::OwnedSemaphorePermit;

use super::exchange::{self, ClientRequestBody};
use super::response_body::ClientBody;
use super::routes::GatewayRoute;
use crate::own_body::BodyInterrupted;
use crate::recall::{RecallOffered, RecallTurn, ReplacedBeginning};
use crate::refusal::GatewayRefusal;
use crate::state::GatewayState;
use crate::upstream::headers;

/// The longest reply that is read whole.
const LONGEST: usize = 64 << 20;

/// What is needed to send a client's request again with a longer history.
pub(super) struct RecallExchange {
    pub(super) state: Arc<GatewayState>,
    parts: Parts,
    route: GatewayRoute,
    pub(super) turn: RecallTurn,
}

impl RecallExchange {
    /// The exchange of a request with this head. Its body is changed, and its reply must be readable.
    pub(super) fn new(
        state: &Arc<GatewayState>,
        mut parts: Parts,
        route: GatewayRoute,
        turn: RecallTurn,
    ) -> Self {
        headers::without_claims(&mut parts.headers);
        parts.extensions.insert(RecallOffered);
        if let Some(accepted) = parts.headers.get_mut(header::ACCEPT_ENCODING) {
            *accepted = HeaderValue::from_static("identity");
        }
        Self {
            state: Arc::clone(state),
            parts,
            route,
            turn,
        }
    }

    /// Sends the request with this body.
    pub(super) async fn send(
        &self,
        body: Bytes,
        began: Instant,
        permit: OwnedSemaphorePermit,
    ) -> Result<Response<ClientBody>, GatewayRefusal> {
        let request = (copy(&self.parts), ClientRequestBody::Read(body));
        exchange::pass(&self.state, request, (self.route, began), permit).await
    }

    /// Sends the request with what the model has looked up.
    pub(super) async fn send_again(
        &self,
        body: Bytes,
    ) -> Result<Response<ClientBody>, GatewayRefusal> {
        // The place of the reply before it is free by now, or soon.
        let permit = Arc::clone(&self.state.requests).acquire_owned().await;
        let permit = permit.map_err(|_| self.state.upstream.broke("the gateway is ending"))?;
        self.send(body, Instant::now(), permit).await
    }
}

/// Reads a body to its end, within the budget.
pub(super) async fn collect(
    state: &GatewayState,
    mut body: ClientBody,
) -> Result<Bytes, BodyInterrupted> {
    let mut charge = state.budget.take(0).map_err(|_| BodyInterrupted)?;
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        charge.grow(data.len()).map_err(|_| BodyInterrupted)?;
        if all.len() + data.len() > LONGEST {
            return Err(BodyInterrupted);
        }
        all.extend_from_slice(&data);
    }
    Ok(charge.hold(all.freeze()))
}

/// What a response of the gateway says about the beginning that was sent.
pub(super) fn replaced(extensions: &http::Extensions) -> ReplacedBeginning {
    extensions.get().cloned().unwrap_or_default()
}

/// Whether a response is a stream of events.
pub(super) fn is_stream(answer: &Response<ClientBody>) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

fn copy(parts: &Parts) -> Parts {
    let mut copy = Request::new(()).into_parts().0;
    copy.method = parts.method.clone();
    copy.uri = parts.uri.clone();
    copy.version = parts.version;
    copy.headers = parts.headers.clone();
    copy.extensions = parts.extensions.clone();
    copy
}

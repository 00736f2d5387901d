//! Bodies that the gateway writes itself: its errors, its page, its JSON and events.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;

/// A body of the gateway's own.
#[derive(Debug)]
pub(crate) enum OwnBody {
    /// A complete body.
    Whole(Option<Bytes>),
    /// A body that is sent piece by piece.
    Streamed(UnsyncBoxBody<Bytes, BodyInterrupted>),
}

/// The upstream's response broke off; the gateway's does too, so that the client sees what it would have seen without
/// the gateway.
#[derive(Debug, thiserror::Error)]
#[error("the upstream's answer broke off")]
pub(crate) struct BodyInterrupted;

impl OwnBody {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole(Some(bytes))
    }

    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyInterrupted>>> {
        match self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Streamed(body) => Pin::new(body).poll_frame(cx),
        }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Streamed(body) => body.is_end_stream(),
        }
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Streamed(body) => body.size_hint(),
        }
    }
}

/// A response with a JSON text.
pub(crate) fn json_answer(status: StatusCode, body: &serde_json::Value) -> Response<OwnBody> {
    let mut answer = Response::new(OwnBody::whole(Bytes::from(body.to_string())));
    *answer.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}

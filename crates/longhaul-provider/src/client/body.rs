//! A request's body on its way out: the slices as they are, and their exact length.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::request::RequestBody;

/// A body that is being sent.
#[derive(Debug)]
pub(super) struct RequestBodyStream {
    body: RequestBody,
    next: usize,
    left: u64,
}

impl RequestBodyStream {
    pub(super) fn new(body: RequestBody) -> Self {
        let left = body.len();
        Self {
            body,
            next: 0,
            left,
        }
    }
}

impl http_body::Body for RequestBodyStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        while let Some(slice) = self.body.slices().get(self.next).cloned() {
            self.next += 1;
            if !slice.is_empty() {
                self.left -= slice.len() as u64;
                return Poll::Ready(Some(Ok(Frame::data(slice))));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    /// The exact size, so that the request carries its length and is not sent in chunks.
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

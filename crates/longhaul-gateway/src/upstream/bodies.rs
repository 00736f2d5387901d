//! A client's body: read in full if it has a conversation, otherwise passed on while it arrives.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};

use crate::memory::MemoryBudget;
use crate::refusal::GatewayRefusal;

/// Memory charged in advance for a body of a stated length; more is charged only as it arrives.
const AT_ONCE: usize = 4 << 20;

/// The average bytes per second that a client must send, once the time of one silence has passed.
const LEAST_RATE: u64 = 1_000;

/// The deadline for the next bytes of a body: at most one silence away, and never later than a body at the slowest
/// allowed rate may take. Otherwise, a client that sends a byte from time to time would be waited for without end.
fn until(began: Instant, idle: Duration, received: usize) -> Instant {
    let earned = Duration::from_millis(received as u64 * 1_000 / LEAST_RATE);
    (Instant::now() + idle).min(began + idle + earned)
}

/// Reads a body in full. It is charged as it arrives, until the last of its bytes is dropped.
pub(crate) async fn whole(
    mut body: Incoming,
    most: usize,
    idle: Duration,
    budget: &MemoryBudget,
) -> Result<Bytes, GatewayRefusal> {
    let hint = body.size_hint();
    let least = usize::try_from(hint.lower()).unwrap_or(usize::MAX);
    if least > most {
        return Err(GatewayRefusal::TooLarge { most });
    }
    let mut first = None;
    let mut charge = budget.take(0)?;
    let mut all = BytesMut::new();
    let began = Instant::now();
    let reading = tokio::time::sleep(idle);
    tokio::pin!(reading);
    loop {
        let frame = tokio::select! {
            biased;
            frame = body.frame() => frame,
            () = &mut reading => return Err(GatewayRefusal::SlowClient),
        };
        let Some(frame) = frame else {
            break;
        };
        let frame = frame.map_err(|_| GatewayRefusal::ClientBroke)?;
        let Ok(chunk) = frame.into_data() else {
            continue;
        };
        if all.len() + chunk.len() > most {
            return Err(GatewayRefusal::TooLarge { most });
        }
        charge.grow(chunk.len())?;
        if body.is_end_stream() && all.is_empty() {
            // It arrived in one piece: there is nothing to copy.
            first = Some(chunk);
            break;
        }
        if all.is_empty() {
            all.reserve(least.min(AT_ONCE));
        }
        all.extend_from_slice(&chunk);
        reading.as_mut().reset(until(began, idle, all.len()));
    }
    Ok(charge.hold(first.unwrap_or_else(|| all.freeze())))
}

/// A request body for the upstream.
#[derive(Debug)]
pub(crate) enum UpstreamBody {
    /// A body that is completely known, in slices.
    Whole(std::vec::IntoIter<Bytes>),
    /// A body that is passed on while it arrives.
    Coming(Box<StreamedRequestBody>),
}

/// A body that is passed on while it arrives.
#[derive(Debug)]
pub(crate) struct StreamedRequestBody {
    body: Incoming,
    left: usize,
    most: usize,
    idle: Duration,
    began: Instant,
    timer: Pin<Box<Sleep>>,
}

/// Why a body could not be passed on to its end.
#[derive(Debug, thiserror::Error)]
#[error("the client's body cannot be passed on")]
pub(crate) struct BodyForwardError(pub(crate) GatewayRefusal);

impl UpstreamBody {
    /// A body of these slices, in order.
    pub(crate) fn parts(parts: Vec<Bytes>) -> Self {
        Self::Whole(parts.into_iter())
    }

    pub(crate) fn coming(
        body: Incoming,
        most: usize,
        idle: Duration,
    ) -> Result<Self, GatewayRefusal> {
        if body.size_hint().lower() > most as u64 {
            return Err(GatewayRefusal::TooLarge { most });
        }
        Ok(Self::Coming(Box::new(StreamedRequestBody {
            body,
            left: most,
            most,
            idle,
            began: Instant::now(),
            timer: Box::pin(tokio::time::sleep(idle)),
        })))
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = BodyForwardError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyForwardError>>> {
        match &mut *self {
            Self::Whole(parts) => Poll::Ready(parts.next().map(|part| Ok(Frame::data(part)))),
            Self::Coming(coming) => coming.poll(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(parts) => parts.as_slice().is_empty(),
            Self::Coming(coming) => coming.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(parts) => {
                let parts = parts.as_slice().iter();
                SizeHint::with_exact(parts.map(|part| part.len() as u64).sum())
            }
            Self::Coming(coming) => coming.body.size_hint(),
        }
    }
}

impl StreamedRequestBody {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyForwardError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        let Poll::Ready(frame) = polled else {
            ready!(self.timer.as_mut().poll(cx));
            return Poll::Ready(Some(Err(BodyForwardError(GatewayRefusal::SlowClient))));
        };
        let received = self.most - self.left;
        let until = until(self.began, self.idle, received);
        self.timer.as_mut().reset(until);
        let Some(frame) = frame else {
            return Poll::Ready(None);
        };
        let frame = frame.map_err(|_| BodyForwardError(GatewayRefusal::ClientBroke));
        if let Ok(frame) = &frame {
            let length = frame.data_ref().map_or(0, Bytes::len);
            match self.left.checked_sub(length) {
                Some(left) => self.left = left,
                None => {
                    let most = self.most;
                    return Poll::Ready(Some(Err(BodyForwardError(GatewayRefusal::TooLarge {
                        most,
                    }))));
                }
            }
        }
        Poll::Ready(Some(frame))
    }
}

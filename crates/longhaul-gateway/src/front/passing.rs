//! An answer's body: what the upstream sends, passed on as it comes, listened to on the way.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;
use tracing::Span;

use super::after_reply::{Report, after_reply};
use crate::own_body::{BrokeOff, OwnBody};
use crate::policy::Policy;
use crate::state::State;
use crate::store::{CallRecord, Ended};
use crate::watch::{Extent, Measured, Refused, Tap};

/// A body for the client.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Our own.
    Own(OwnBody),
    /// The upstream's.
    Passing(Box<Passing>),
}

impl From<OwnBody> for Answer {
    fn from(body: OwnBody) -> Self {
        Self::Own(body)
    }
}

/// Where the upstream's body comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// The connection.
    Coming(Incoming),
    /// It was read whole before it was decided to pass it on.
    Held(Option<Bytes>),
}

impl Source {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self {
            Self::Coming(body) => Pin::new(body).poll_frame(cx),
            Self::Held(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Coming(body) => body.is_end_stream(),
            Self::Held(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Coming(body) => body.size_hint(),
            Self::Held(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
        }
    }
}

/// The upstream's body.
#[derive(Debug)]
pub(crate) struct Passing {
    pub(super) body: Source,
    pub(super) tap: Option<Tap>,
    pub(super) report: Option<Report>,
    pub(super) state: Arc<State>,
    pub(super) status: u16,
    pub(super) policy: Policy,
    /// Ends with the answer.
    pub(super) span: Span,
    pub(super) began: Instant,
    pub(super) idle: Duration,
    /// Runs while the upstream sends nothing.
    pub(super) silence: Option<Pin<Box<Sleep>>>,
    pub(super) ended: Option<Ended>,
    pub(super) _permit: OwnedSemaphorePermit,
}

impl Passing {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokeOff>>> {
        let Poll::Ready(frame) = self.body.poll(cx) else {
            let idle = self.idle;
            let timer = self
                .silence
                .get_or_insert_with(|| Box::pin(tokio::time::sleep(idle)));
            ready!(timer.as_mut().poll(cx));
            self.state.metrics.refused(Refused::UpstreamSilent);
            self.ended = Some(Ended::UpstreamFailed);
            return Poll::Ready(Some(Err(BrokeOff)));
        };
        self.silence = None;
        Poll::Ready(match frame {
            None => {
                self.ended = Some(Ended::Whole);
                None
            }
            Some(Ok(frame)) => {
                if let (Some(tap), Some(data)) = (&mut self.tap, frame.data_ref()) {
                    tap.take(data);
                }
                Some(Ok(frame))
            }
            Some(Err(_)) => {
                self.state.metrics.refused(Refused::Upstream);
                self.ended = Some(Ended::UpstreamFailed);
                Some(Err(BrokeOff))
            }
        })
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        let whole = || match self.body.is_end_stream() {
            true => Ended::Whole,
            false => Ended::ClientGone,
        };
        let ended = self.ended.unwrap_or_else(whole);
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.state
            .metrics
            .answered(self.status, Some(self.policy), self.began.elapsed());
        self.span.record("ended", ended.name());
        self.state.metrics.in_flight(-1);
        let Some(report) = self.report.take() else {
            return;
        };
        let report = Report {
            record: CallRecord {
                ended,
                millis,
                ..report.record
            },
            ..report
        };
        let tap = self.tap.take();
        let measured = tap.map_or(Measured::Usage(None, Extent::Whole), |tap| tap.end(ended));
        let state = Arc::clone(&self.state);
        // The end of the answer is still on its way out: the client need not wait for what follows.
        match Handle::try_current() {
            Ok(runtime) => {
                drop(runtime.spawn(async move { after_reply(&state, report, measured) }));
            }
            Err(_) => after_reply(&state, report, measured),
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = BrokeOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokeOff>>> {
        match &mut *self {
            Self::Own(body) => body.poll(cx),
            Self::Passing(passing) => passing.poll(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(body) => body.is_at_end(),
            Self::Passing(passing) => passing.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(body) => body.size_hint(),
            Self::Passing(passing) => passing.body.size_hint(),
        }
    }
}

//! A response body: what the upstream sends is passed on as it arrives, and its usage is read on the way.

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

use super::after_reply::{CallReport, after_reply};
use crate::own_body::{BodyInterrupted, OwnBody};
use crate::policy::RequestPolicy;
use crate::state::GatewayState;
use crate::store::{CallEnding, CallRecord};
use crate::watch::{RefusalClass, ResponseReading, ResponseUsage, UsageTap};

/// A body for the client.
#[derive(Debug)]
pub(crate) enum ClientBody {
    /// The gateway's own body.
    Own(OwnBody),
    /// The upstream's body.
    Passing(Box<ForwardedResponse>),
}

impl From<OwnBody> for ClientBody {
    fn from(body: OwnBody) -> Self {
        Self::Own(body)
    }
}

/// Where the upstream's body comes from.
#[derive(Debug)]
pub(super) enum ResponseSource {
    /// The upstream's connection.
    Coming(Incoming),
    /// A body that was read in full before it was decided to pass it on.
    Held(Option<Bytes>),
}

impl ResponseSource {
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

/// The upstream's body on its way to the client.
#[derive(Debug)]
pub(crate) struct ForwardedResponse {
    pub(super) body: ResponseSource,
    pub(super) tap: Option<UsageTap>,
    pub(super) report: Option<CallReport>,
    pub(super) state: Arc<GatewayState>,
    pub(super) status: u16,
    pub(super) policy: RequestPolicy,
    /// Ends with the response.
    pub(super) span: Span,
    pub(super) began: Instant,
    pub(super) idle: Duration,
    /// Runs while the upstream sends nothing.
    pub(super) silence: Option<Pin<Box<Sleep>>>,
    pub(super) ended: Option<CallEnding>,
    /// Why the answer did not come to its end.
    pub(super) error: Option<&'static str>,
    pub(super) _permit: OwnedSemaphorePermit,
}

impl ForwardedResponse {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyInterrupted>>> {
        let Poll::Ready(frame) = self.body.poll(cx) else {
            let idle = self.idle;
            let timer = self
                .silence
                .get_or_insert_with(|| Box::pin(tokio::time::sleep(idle)));
            ready!(timer.as_mut().poll(cx));
            self.state.metrics.refused(RefusalClass::UpstreamSilent);
            self.ended = Some(CallEnding::UpstreamFailed);
            self.error = Some("the upstream was silent for too long in the middle of its answer");
            return Poll::Ready(Some(Err(BodyInterrupted)));
        };
        self.silence = None;
        Poll::Ready(match frame {
            None => {
                self.ended = Some(CallEnding::Whole);
                None
            }
            Some(Ok(frame)) => {
                if let (Some(tap), Some(data)) = (&mut self.tap, frame.data_ref()) {
                    tap.take(data);
                }
                Some(Ok(frame))
            }
            Some(Err(_)) => {
                self.state.metrics.refused(RefusalClass::Upstream);
                self.ended = Some(CallEnding::UpstreamFailed);
                self.error = Some("the upstream's answer broke off");
                Some(Err(BodyInterrupted))
            }
        })
    }
}

impl Drop for ForwardedResponse {
    fn drop(&mut self) {
        let whole = || {
            if self.body.is_end_stream() {
                CallEnding::Whole
            } else {
                CallEnding::ClientGone
            }
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
        let report = CallReport {
            record: CallRecord {
                ended,
                millis,
                error: self.error.map(str::to_owned),
                ..report.record
            },
            ..report
        };
        let tap = self.tap.take();
        let measured = tap.map_or(ResponseUsage::Read(ResponseReading::default()), |tap| {
            tap.end(ended)
        });
        let state = Arc::clone(&self.state);
        // The end of the response is still on its way out: the client does not have to wait for what follows.
        match Handle::try_current() {
            Ok(runtime) => {
                drop(runtime.spawn(async move { after_reply(&state, report, measured) }));
            }
            Err(_) => after_reply(&state, report, measured),
        }
    }
}

impl Body for ClientBody {
    type Data = Bytes;
    type Error = BodyInterrupted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyInterrupted>>> {
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

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

use super::after_reply::{CallReport, after_abandoned_reply, after_reply};
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

    /// Whether nothing is left of it, as its end or its announced length says.
    fn is_read(&self) -> bool {
        self.is_end_stream() || self.size_hint().exact() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Coming(body) => body.size_hint(),
            Self::Held(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
        }
    }
}

/// Whether an answer has ended, so that what follows it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HasEnded {
    No,
    Yes,
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
    pub(super) has_ended: HasEnded,
    /// Why the answer did not come to its end.
    pub(super) error: Option<&'static str>,
    pub(super) _permit: OwnedSemaphorePermit,
}

/// What follows the end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerEnd {
    /// It was read to its end, or broke off: what follows a reply is planned, as far as there was one.
    Read(CallEnding),
    /// Nobody read it to its end: the call is recorded, and nothing is planned.
    Abandoned(CallEnding),
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
            let silent = "the upstream was silent for too long in the middle of its answer";
            return Poll::Ready(Some(self.broke_off(RefusalClass::UpstreamSilent, silent)));
        };
        self.silence = None;
        Poll::Ready(match frame {
            None => {
                self.follow(AnswerEnd::Read(CallEnding::Whole));
                None
            }
            Some(Ok(frame)) => {
                if let (Some(tap), Some(data)) = (&mut self.tap, frame.data_ref()) {
                    tap.take(data);
                }
                // A body that was read is not polled again.
                if self.body.is_read() {
                    self.follow(AnswerEnd::Read(CallEnding::Whole));
                }
                Some(Ok(frame))
            }
            Some(Err(_)) => {
                let broken = "the upstream's answer broke off";
                Some(self.broke_off(RefusalClass::Upstream, broken))
            }
        })
    }

    fn broke_off(
        &mut self,
        class: RefusalClass,
        error: &'static str,
    ) -> Result<Frame<Bytes>, BodyInterrupted> {
        self.state.metrics.refused(class);
        self.error = Some(error);
        self.follow(AnswerEnd::Read(CallEnding::UpstreamFailed));
        Err(BodyInterrupted)
    }

    /// Does what follows the answer, once.
    fn follow(&mut self, end: AnswerEnd) {
        if std::mem::replace(&mut self.has_ended, HasEnded::Yes) == HasEnded::Yes {
            return;
        }
        let (AnswerEnd::Read(ended) | AnswerEnd::Abandoned(ended)) = end;
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.state
            .metrics
            .answered(self.status, Some(self.policy), self.began.elapsed());
        self.span.record("ended", ended.name());
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
        let follow = move || match end {
            AnswerEnd::Read(_) => after_reply(&state, report, measured),
            AnswerEnd::Abandoned(_) => after_abandoned_reply(&state, report, measured),
        };
        // The end of the response is still on its way out: the client does not have to wait for what follows.
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move { follow() })),
            Err(_) => follow(),
        }
    }
}

impl Drop for ForwardedResponse {
    fn drop(&mut self) {
        // An answer without a body is not read.
        let ended = if self.body.is_read() {
            CallEnding::Whole
        } else {
            CallEnding::ClientGone
        };
        self.follow(AnswerEnd::Abandoned(ended));
        self.state.metrics.in_flight(-1);
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

//! A streamed reply with recall: the client gets one stream for all replies of the model.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, StatusCode, header};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use longhaul_provider::decode::{ReplyDecoder, StreamProgress};
use longhaul_provider::sse::SseDecoder;
use longhaul_provider::{Dialect, Reply};
use tokio::sync::mpsc;
use tracing::{Instrument, Span};

use super::recall_exchange::{RecallExchange, collect, is_stream, replaced};
use super::response_body::ClientBody;
use crate::own_body::{BodyInterrupted, OwnBody};
use crate::recall::{AfterReply, ReplyRewriter, StopChange, StreamEnding};
use crate::refusal::GatewayRefusal;
use crate::state::GatewayState;

/// How many pieces may wait for the client.
const WAITING: usize = 4;

/// Begins the client's stream with the first reply.
pub(super) fn begin(
    exchange: RecallExchange,
    answer: Response<ClientBody>,
) -> Result<Response<ClientBody>, GatewayRefusal> {
    let packed = answer.headers().get(header::CONTENT_ENCODING);
    if packed.is_some_and(|how| how != "identity") {
        let why =
            "it compressed a stream though it was asked not to, so recall cannot work with it";
        return Err(exchange.state.upstream.broke(why));
    }
    let (mut parts, body) = answer.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    let replaced = replaced(&parts.extensions);
    let (sender, receiver) = mpsc::channel(WAITING);
    let driver = async move {
        let mut stream = RecalledStream {
            rewriter: ReplyRewriter::new(exchange.turn.dialect(), exchange.turn.tool()),
            exchange,
            sender,
        };
        stream.drive(body, replaced).await
    };
    let body = DrivenBody {
        driver: Some(Box::pin(driver.instrument(Span::current()))),
        receiver,
        is_broken: false,
    };
    let body = OwnBody::Streamed(UnsyncBoxBody::new(body));
    Ok(Response::from_parts(parts, ClientBody::Own(body)))
}

struct RecalledStream {
    exchange: RecallExchange,
    rewriter: ReplyRewriter,
    sender: mpsc::Sender<Bytes>,
}

impl RecalledStream {
    /// Passes on one reply after the other, until one is the last.
    async fn drive(
        &mut self,
        mut body: ClientBody,
        mut beginning: crate::recall::ReplacedBeginning,
    ) -> Result<(), BodyInterrupted> {
        loop {
            let reading = ReadReply::new(self.exchange.turn.dialect());
            let (reply, is_whole) = self.read(reading, body).await?;
            let budget = self.exchange.state.budget.clone();
            let after = match is_whole {
                true => self.exchange.turn.take(&reply, beginning, &budget).await,
                // The client sees the same end.
                false => AfterReply::End,
            };
            let stop = match after {
                AfterReply::Again(next) => {
                    self.rewriter.another_reply();
                    match self.exchange.send_again(next).await {
                        Ok(answer) if answer.status() == StatusCode::OK && is_stream(&answer) => {
                            beginning = replaced(answer.extensions());
                            body = answer.into_body();
                            continue;
                        }
                        Ok(answer) => {
                            let error = collect(&self.exchange.state, answer.into_body()).await?;
                            return self.fail(&error).await;
                        }
                        Err(refusal) => {
                            let error = refusal.answer(self.exchange.turn.dialect()).into_body();
                            let state = &self.exchange.state;
                            let error = collect(state, ClientBody::Own(error)).await?;
                            return self.fail(&error).await;
                        }
                    }
                }
                AfterReply::End => StopChange::AsTold,
                AfterReply::EndTurn => StopChange::TurnEnded,
            };
            let ending = StreamEnding {
                reply: &reply,
                output: self.exchange.turn.output(),
                stop,
            };
            let mut out = Vec::new();
            self.rewriter.end(ending, &mut out);
            return self.send(out).await;
        }
    }

    /// Passes on a reply and reads it; also returns whether it came to its end.
    async fn read(
        &mut self,
        mut reading: ReadReply,
        mut body: ClientBody,
    ) -> Result<(Reply, bool), BodyInterrupted> {
        let state: &GatewayState = &self.exchange.state;
        let mut charge = state.budget.take(0).map_err(|_| BodyInterrupted)?;
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else {
                continue;
            };
            charge.grow(data.len()).map_err(|_| BodyInterrupted)?;
            let mut out = Vec::new();
            reading.take(&data, &mut self.rewriter, &mut out)?;
            if !out.is_empty() {
                let sent = self.sender.send(out.into()).await;
                sent.map_err(|_| BodyInterrupted)?;
            }
        }
        Ok(reading.end())
    }

    /// Tells the client an error in place of the rest.
    async fn fail(&self, error: &[u8]) -> Result<(), BodyInterrupted> {
        let mut out = Vec::new();
        self.rewriter.error(error, &mut out);
        self.send(out).await
    }

    async fn send(&self, out: Vec<u8>) -> Result<(), BodyInterrupted> {
        self.sender
            .send(out.into())
            .await
            .map_err(|_| BodyInterrupted)
    }
}

/// A reply that is being read.
struct ReadReply {
    events: SseDecoder,
    reply: ReplyDecoder,
    is_refused: bool,
}

impl ReadReply {
    fn new(dialect: Dialect) -> Self {
        Self {
            events: SseDecoder::default(),
            reply: ReplyDecoder::new(dialect),
            is_refused: false,
        }
    }

    fn take(
        &mut self,
        data: &[u8],
        rewriter: &mut ReplyRewriter,
        out: &mut Vec<u8>,
    ) -> Result<(), BodyInterrupted> {
        let (mut rest, mut unheard) = (data, VecDeque::new());
        while let Some(event) = self.events.next(&mut rest).map_err(|_| BodyInterrupted)? {
            rewriter.event(event, out);
            self.is_refused |= self.reply.event(event, &mut unheard).is_err();
            unheard.clear();
        }
        Ok(())
    }

    fn end(self) -> (Reply, bool) {
        let is_whole = !self.is_refused && self.reply.progress() != StreamProgress::Open;
        (self.reply.into_reply(), is_whole)
    }
}

type StreamDriver = Pin<Box<dyn Future<Output = Result<(), BodyInterrupted>> + Send>>;

/// A body whose pieces come from a future that is driven while the body is read. If the client goes away, both end.
struct DrivenBody {
    driver: Option<StreamDriver>,
    receiver: mpsc::Receiver<Bytes>,
    is_broken: bool,
}

impl Body for DrivenBody {
    type Data = Bytes;
    type Error = BodyInterrupted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyInterrupted>>> {
        if let Some(driver) = &mut self.driver
            && let Poll::Ready(ended) = driver.as_mut().poll(cx)
        {
            self.driver = None;
            self.is_broken = ended.is_err();
        }
        match self.receiver.poll_recv(cx) {
            Poll::Ready(Some(piece)) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            Poll::Ready(None) if std::mem::take(&mut self.is_broken) => {
                Poll::Ready(Some(Err(BodyInterrupted)))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

//! The reply while it arrives: bytes in, events out, ended by the finished reply or by one error.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use http::HeaderMap;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::redact::Redactor;
use super::transport::ResponseChunks;
use crate::config::{ClientConfig, Dialect};
use crate::decode::{DecodeError, ReplyDecoder, StreamProgress, decode_json};
use crate::error::{AwaitedStep, Error, ErrorClass, request_id};
use crate::event::StreamEvent;
use crate::model::OnStream;
use crate::reply::Reply;
use crate::sse;

/// The events of one reply. The last item is [`StreamEvent::Finished`] or an error, which carries what had arrived.
///
/// Dropping it closes the connection, which ends the model's work.
pub struct ReplyStream {
    chunks: Option<ResponseChunks>,
    reading: ResponseState,
    /// Whether an event of the reply has been read.
    has_begun: bool,
    queue: VecDeque<StreamEvent>,
    /// The final item once the queue is empty.
    end: Option<Result<Reply, Error>>,
    silence: Duration,
    timer: Pin<Box<Sleep>>,
    cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    headers: HeaderMap,
    redactor: Redactor,
    dialect: Dialect,
    largest: usize,
}

/// The detected form of the response.
enum ResponseState {
    /// Only white space so far.
    Undecided,
    /// A stream of events.
    Events(Box<(sse::SseDecoder, ReplyDecoder)>),
    /// One JSON text, or a page that is not JSON.
    Whole(BytesMut),
}

impl std::fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplyStream")
            .field("dialect", &self.dialect)
            .field("queued", &self.queue.len())
            .finish_non_exhaustive()
    }
}

impl ReplyStream {
    pub(super) fn new(
        config: &ClientConfig,
        headers: HeaderMap,
        first: Bytes,
        chunks: ResponseChunks,
        redactor: Redactor,
        cancel: Option<CancellationToken>,
    ) -> Self {
        let silence = config.timeouts.silence;
        let mut stream = Self {
            chunks: Some(chunks),
            reading: ResponseState::Undecided,
            has_begun: false,
            queue: VecDeque::new(),
            end: None,
            silence,
            timer: Box::pin(tokio::time::sleep(silence)),
            cancelled: cancel.map(|token| Box::pin(token.cancelled_owned())),
            headers,
            redactor,
            dialect: config.dialect,
            largest: config.largest_event,
        };
        stream.take(first);
        stream
    }

    /// The next event; `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, Error>> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    /// Waits for the end and returns only the reply.
    ///
    /// # Errors
    /// Fails with the error that ended the stream.
    pub async fn into_reply(self) -> Result<Reply, Error> {
        self.into_reply_with(&mut |_| ()).await
    }

    /// Waits for the end and returns the reply; every event is passed on.
    pub(super) async fn into_reply_with(mut self, on_event: OnStream<'_>) -> Result<Reply, Error> {
        while let Some(event) = self.next().await {
            let event = event?;
            on_event(&event);
            if let StreamEvent::Finished(reply) = event {
                return Ok(*reply);
            }
        }
        // The end was taken by an earlier call.
        Err(Error::new(
            ErrorClass::Cut,
            "the stream has been read to its end",
        ))
    }

    /// A header of the response, such as `anthropic-ratelimit-tokens-remaining`.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<StreamEvent, Error>>> {
        loop {
            if let Some(cancelled) = &mut self.cancelled
                && self.end.is_none()
                && self.chunks.is_some()
                && cancelled.as_mut().poll(cx).is_ready()
            {
                self.queue.clear();
                self.fail(super::cancelled());
            }
            if let Some(event) = self.queue.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(end) = self.end.take() {
                self.chunks = None;
                let end = end.map(|reply| StreamEvent::Finished(Box::new(reply)));
                return Poll::Ready(Some(end));
            }
            let Some(chunks) = &mut self.chunks else {
                return Poll::Ready(None);
            };
            match chunks.poll(cx) {
                Poll::Ready(Some(Ok(chunk))) => {
                    self.timer.as_mut().reset(Instant::now() + self.silence);
                    self.take(chunk);
                    // Reads the closing bytes if they have arrived, so that the connection can be reused.
                    if self.end.is_some()
                        && let Some(chunks) = &mut self.chunks
                    {
                        let _ = chunks.poll(cx);
                    }
                }
                Poll::Ready(Some(Err(error))) => self.fail(error),
                Poll::Ready(None) => self.ended(),
                Poll::Pending => {
                    ready!(self.timer.as_mut().poll(cx));
                    let message = format!("nothing came for {:?}", self.silence);
                    let class = ErrorClass::Timeout(AwaitedStep::NextByte);
                    self.fail(Error::new(class, message));
                }
            }
        }
    }

    /// Takes bytes of the response.
    fn take(&mut self, chunk: Bytes) {
        let mut rest = &chunk[..];
        if let ResponseState::Undecided = self.reading {
            rest = rest.trim_ascii_start();
            match rest.first() {
                None => return,
                // No line of an event stream begins like this.
                Some(b'{' | b'[' | b'<') => self.reading = ResponseState::Whole(BytesMut::new()),
                Some(_) => {
                    let events = sse::SseDecoder::with_limit(self.largest);
                    self.reading =
                        ResponseState::Events(Box::new((events, ReplyDecoder::new(self.dialect))));
                }
            }
        }
        match &mut self.reading {
            ResponseState::Undecided => {}
            ResponseState::Whole(body) if body.len() + rest.len() > self.largest => {
                let message = format!("the answer exceeds {} bytes", self.largest);
                self.fail(Error::new(ErrorClass::Malformed, message));
            }
            ResponseState::Whole(body) => body.extend_from_slice(rest),
            ResponseState::Events(decoders) => {
                let (events, decoder) = &mut **decoders;
                let folded = loop {
                    match events.next(&mut rest) {
                        Ok(None) => break Ok(()),
                        Ok(Some(event)) => match decoder.event(event, &mut self.queue) {
                            Ok(()) => self.has_begun = true,
                            // What begins as a reply comes from the API, so an event of it that cannot be read was
                            // damaged by something in between.
                            Err(DecodeError::Malformed(what)) if self.has_begun => {
                                tracing::debug!(what, "an event of the reply cannot be read");
                                let message = "an event of it cannot be read";
                                break Err(Error::new(ErrorClass::Damaged, message));
                            }
                            Err(error) => break Err(Error::from(error)),
                        },
                        Err(error) => {
                            break Err(Error::new(ErrorClass::Malformed, error.to_string()));
                        }
                    }
                };
                match folded {
                    Err(error) => self.fail(error),
                    Ok(()) if decoder.progress() == StreamProgress::Closed => {
                        let reply = self.take_reply();
                        self.end = Some(Ok(reply));
                    }
                    Ok(()) => {}
                }
            }
        }
    }

    /// The server sends nothing more: decides whether that is the end or the reply broke off.
    fn ended(&mut self) {
        match &mut self.reading {
            ResponseState::Undecided => {
                self.fail(Error::new(ErrorClass::Cut, "the answer is empty"))
            }
            ResponseState::Whole(body) => {
                let body = std::mem::take(body).freeze();
                match decode_json(self.dialect, &body) {
                    Ok(mut reply) => {
                        reply.request_id = request_id(&self.headers);
                        self.end = Some(Ok(reply));
                    }
                    Err(error) => self.fail(error.into()),
                }
            }
            ResponseState::Events(decoders) => {
                let (events, decoder) = &mut **decoders;
                // An event without its closing blank line counts if it is complete, which its JSON shows.
                if let Ok(Some(event)) = events.finish()
                    && let Err(error @ DecodeError::Answer(_)) =
                        decoder.event(event, &mut self.queue)
                {
                    return self.fail(error.into());
                }
                match decoder.progress() {
                    StreamProgress::Open => {
                        let message = "the stream ended before the model did";
                        self.fail(Error::new(ErrorClass::Cut, message));
                    }
                    StreamProgress::Stopped | StreamProgress::Closed => {
                        let reply = self.take_reply();
                        self.end = Some(Ok(reply));
                    }
                }
            }
        }
    }

    /// Ends with an error that carries what has arrived.
    fn fail(&mut self, mut error: Error) {
        error.message = self.redactor.redact(&error.message).into();
        error.request_id = error
            .request_id
            .or_else(|| request_id(&self.headers).map(Into::into));
        if let ResponseState::Events(_) = self.reading {
            error = error.with_partial(self.take_reply());
        }
        self.end = Some(Err(error));
    }

    fn take_reply(&mut self) -> Reply {
        let mut reply = match std::mem::replace(&mut self.reading, ResponseState::Undecided) {
            ResponseState::Events(decoders) => decoders.1.into_reply(),
            ResponseState::Undecided | ResponseState::Whole(_) => Reply::default(),
        };
        reply.request_id = request_id(&self.headers);
        reply
    }
}

impl Stream for ReplyStream {
    type Item = Result<StreamEvent, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(cx)
    }
}

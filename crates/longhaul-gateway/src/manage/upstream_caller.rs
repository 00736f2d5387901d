//! Sends the gateway's own requests to the upstream, with the caller's key and on the caller's behalf: appended to the
//! client's own bytes, where everything before the question is in the provider's cache, or as a plain request.
//!
//! The key is the one that came with the request which made the call necessary: it is held in memory only for as long
//! as the call takes, and is never stored.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use longhaul::{Boxed, Model, ModelRequest, OnStream};
use longhaul_core::history::FailureTransience;
use longhaul_provider::decode::{ReplyDecoder, decode_json};
use longhaul_provider::error::{AwaitedStep, ErrorResponse};
use longhaul_provider::{CancellationToken, Dialect, Error, ErrorClass, Reply, sse};

use super::own_call::{OwnCall, OwnRequestBooks, SpentUsage};
use crate::memory::{MemoryBudget, MemoryCharge};
use crate::upstream::{Upstream, UpstreamBody, without_claims};

/// The longest response that is read.
const LONGEST: usize = 32 << 20;
/// How long a whole response may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long the response may pause: models that stream send signs of life.
const SILENCE: Duration = Duration::from_secs(90);

const BETA: HeaderName = HeaderName::from_static("anthropic-beta");

/// Sends requests on behalf of a caller.
#[derive(Debug, Clone)]
pub(crate) struct UpstreamCaller {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) dialect: Dialect,
    /// The caller's headers, as they are passed on.
    pub(crate) headers: Arc<HeaderMap>,
    /// The path of the caller's request.
    pub(crate) uri: Uri,
    /// The budget to which a response is charged while it is read.
    pub(crate) budget: MemoryBudget,
    /// Where its requests are recorded.
    pub(crate) books: OwnRequestBooks,
}

impl UpstreamCaller {
    /// Sends a body and reads the whole response, if it arrives in time. What it uses is added to `spent`, whatever
    /// becomes of it.
    pub(super) async fn ask(
        &self,
        parts: Vec<Bytes>,
        betas: &[String],
        spent: &SpentUsage,
    ) -> Result<Reply, Error> {
        let mut call = OwnCall::begin(&self.books, spent);
        let answer = tokio::time::timeout(PATIENCE, self.answer(parts, betas, &mut call));
        answer.await.unwrap_or_else(|_| {
            let awaited = ErrorClass::Timeout(AwaitedStep::NextByte);
            Err(Error::new(awaited, "the answer took too long"))
        })
    }

    async fn answer(
        &self,
        parts: Vec<Bytes>,
        betas: &[String],
        call: &mut OwnCall<'_>,
    ) -> Result<Reply, Error> {
        let length: usize = parts.iter().map(Bytes::len).sum();
        let mut request = Request::new(UpstreamBody::parts(parts));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        let headers = request.headers_mut();
        headers.clone_from(&self.headers);
        without_claims(headers);
        // The response is read here, and only without compression.
        headers.remove(header::ACCEPT_ENCODING);
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        if let Some(betas) = with_betas(headers, betas) {
            headers.insert(BETA, betas);
        }
        let sent = self.upstream.send(request).await;
        let answer = sent
            .map_err(|refusal| Error::new(ErrorClass::Server { after: None }, refusal.message()))?;
        let (parts, body) = answer.into_parts();
        if parts.status.is_success() {
            call.accepted(self.dialect, &parts.headers, &self.budget);
        }
        // The charge is released once the reply is extracted: that is a short-lived text within the model's output
        // limit.
        let (body, _charge) = whole(body, &self.budget, call).await?;
        if !parts.status.is_success() {
            let status = parts.status.as_u16();
            return Err(
                ErrorResponse::from_http(status, &parts.headers, &body, SystemTime::now())
                    .into_error(),
            );
        }
        let kind = parts.headers.get(header::CONTENT_TYPE);
        let streamed = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let malformed = |_| Error::new(ErrorClass::Malformed, "the answer cannot be read");
        let reply = if streamed {
            folded(self.dialect, &body).map_err(malformed)?
        } else {
            decode_json(self.dialect, &body).map_err(|_| malformed(()))?
        };
        call.is_whole(&reply.usage);
        Ok(reply)
    }
}

/// Reads a body to its end, unless it pauses for too long.
async fn whole(
    mut body: Incoming,
    budget: &MemoryBudget,
    call: &mut OwnCall<'_>,
) -> Result<(Bytes, MemoryCharge), Error> {
    let full = |_| Error::new(ErrorClass::Cut, "there is no memory for the answer");
    let mut all = BytesMut::new();
    let mut charge = budget.take(0).map_err(full)?;
    loop {
        let silent = |_| {
            Error::new(
                ErrorClass::Timeout(AwaitedStep::NextByte),
                "the answer stopped",
            )
        };
        let frame = tokio::time::timeout(SILENCE, body.frame());
        let Some(frame) = frame.await.map_err(silent)? else {
            return Ok((all.freeze(), charge));
        };
        let frame = frame.map_err(|_| Error::new(ErrorClass::Cut, "the answer broke off"))?;
        let Some(data) = frame.data_ref() else {
            continue;
        };
        if all.len() + data.len() > LONGEST {
            return Err(Error::new(ErrorClass::Malformed, "the answer is too long"));
        }
        call.heard(data);
        charge.grow(data.len()).map_err(full)?;
        all.extend_from_slice(data);
    }
}

/// Assembles a streamed reply, as far as it arrived.
fn folded(dialect: Dialect, body: &[u8]) -> Result<Reply, ()> {
    let mut decoder = ReplyDecoder::new(dialect);
    let mut events = sse::SseDecoder::default();
    let mut heard = VecDeque::new();
    let mut rest = body;
    while let Some(event) = events.next(&mut rest).map_err(|_| ())? {
        decoder.event(event, &mut heard).map_err(|_| ())?;
        heard.clear();
    }
    if let Some(event) = events.finish().map_err(|_| ())? {
        decoder.event(event, &mut heard).map_err(|_| ())?;
    }
    Ok(decoder.into_reply())
}

/// The caller's beta features together with these; `None` if there is nothing to add.
fn with_betas(headers: &HeaderMap, more: &[String]) -> Option<HeaderValue> {
    let values = headers.get_all(BETA).iter();
    let given = values.filter_map(|value| value.to_str().ok());
    let mut all: Vec<String> = given
        .flat_map(|value| value.split(','))
        .map(|beta| beta.trim().to_owned())
        .filter(|beta| !beta.is_empty())
        .collect();
    let before = all.len();
    for beta in more {
        if !all.contains(beta) {
            all.push(beta.clone());
        }
    }
    (all.len() > before).then(|| HeaderValue::try_from(all.join(",")).ok())?
}

/// A caller that adds up the usage of its requests, whatever the outcome.
#[derive(Debug, Clone)]
pub(super) struct CountedAsking {
    asking: UpstreamCaller,
    spent: SpentUsage,
    newest: Arc<Mutex<Option<Reply>>>,
}

impl CountedAsking {
    pub(super) fn new(asking: &UpstreamCaller) -> Self {
        Self {
            asking: asking.clone(),
            spent: SpentUsage::default(),
            newest: Arc::default(),
        }
    }

    pub(super) async fn ask(&self, parts: Vec<Bytes>, betas: &[String]) -> Result<Reply, Error> {
        let reply = self.asking.ask(parts, betas, &self.spent).await?;
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply.clone());
        Ok(reply)
    }

    /// The newest reply.
    pub(super) fn newest_reply(&self) -> Option<Reply> {
        let newest = self.newest.lock();
        newest.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The usage of the requests.
    pub(super) fn spent(&self) -> &SpentUsage {
        &self.spent
    }
}

impl Model for CountedAsking {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        _: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(async move {
            tokio::select! {
                reply = self.ask(request.body, &request.betas) => reply,
                () = cancel.cancelled() => Err(Error::new(ErrorClass::Cancelled, "canceled")),
            }
        })
    }
}

/// Whether the same request may succeed later.
pub(super) fn passing(class: ErrorClass) -> FailureTransience {
    match class {
        ErrorClass::RateLimited { .. }
        | ErrorClass::Overloaded { .. }
        | ErrorClass::Server { .. }
        | ErrorClass::Retry { .. }
        | ErrorClass::Timeout(_)
        | ErrorClass::Cut => FailureTransience::Passes,
        _ => FailureTransience::Stays,
    }
}

//! The client: sends a request, retries where that may help, and returns the stream of the reply.
//!
//! **The client sends nothing twice once a byte of a response has arrived.** Until then, a failed attempt loses nothing that
//! the caller has seen; afterwards the failure goes to the caller, with what had arrived. `transport.rs` sets up the
//! connection, `stream.rs` reads the response.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use longhaul_core::engine::ModelRequest;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::config::{ClientConfig, ClientConfigError, Dialect};
use crate::error::{AwaitedStep, Error, ErrorClass, ErrorResponse};
use crate::key::Secret;
use crate::model::{Boxed, Model, OnStream};
use crate::reply::Reply;
use crate::retry::RetryDecision;
use crate::{anthropic, openai};

mod body;
mod redact;
mod request;
mod stream;
mod transport;

use body::RequestBodyStream;
pub use redact::Redactor;
pub use request::{Request, RequestBody};
pub use stream::ReplyStream;
use transport::ResponseChunks;
pub use transport::{Certificates, chain, http_client};

/// A connection to one server.
pub struct Client {
    http: reqwest::Client,
    config: ClientConfig,
    url: Url,
    redactor: Redactor,
    seed: u64,
    sent: AtomicU64,
}

impl fmt::Debug for Client {
    /// Omits everything that may contain a secret, such as a URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("dialect", &self.config.dialect)
            .field("host", &self.url.host_str())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Checks a configuration and creates a client from it. No connection is opened yet.
    ///
    /// # Errors
    /// Fails with a [`ClientConfigError`]; none of them shows a key.
    pub fn new(config: ClientConfig) -> Result<Self, ClientConfigError> {
        let url = endpoint(&config)?;
        let proxy = config.proxy.as_ref().map(|proxy| proxy.url.expose());
        let proxy_password = proxy
            .and_then(|proxy| Url::parse(proxy).ok())
            .and_then(|proxy| proxy.password().map(str::to_owned));
        let headers = config.headers.iter().map(|(_, value)| value);
        let secrets = config.auth.secret().into_iter().chain(headers);
        let redactor = Redactor::new(
            secrets
                .map(Secret::expose)
                .chain(url.password())
                .chain(proxy_password.as_deref()),
        );
        let client = Self {
            http: transport::build(&config, &url)?,
            seed: config
                .seed
                .unwrap_or_else(|| RandomState::new().build_hasher().finish()),
            sent: AtomicU64::new(0),
            redactor,
            url,
            config,
        };
        // The required headers are checked now rather than at the first request.
        client.headers(&Request::new(bytes::Bytes::new()))?;
        Ok(client)
    }

    /// The API that it speaks.
    pub fn dialect(&self) -> Dialect {
        self.config.dialect
    }

    /// Sends a request and waits for the first byte of its reply.
    ///
    /// # Errors
    /// Fails with the error of the last attempt and the number of attempts.
    pub async fn send(&self, request: Request) -> Result<ReplyStream, Error> {
        match request.cancel.clone() {
            None => self.attempts(&request).await,
            Some(token) => {
                let attempts = token.run_until_cancelled(self.attempts(&request));
                attempts.await.unwrap_or_else(|| Err(cancelled()))
            }
        }
    }

    /// Sends a request once, whatever the configuration says about retries, and waits for the first byte of its reply:
    /// for a caller that retries by itself.
    ///
    /// # Errors
    /// Fails with the error of this attempt.
    pub async fn send_once(&self, request: Request) -> Result<ReplyStream, Error> {
        match request.cancel.clone() {
            None => self.attempt(&request).await,
            Some(token) => {
                let attempt = token.run_until_cancelled(self.attempt(&request));
                attempt.await.unwrap_or_else(|| Err(cancelled()))
            }
        }
    }

    async fn attempts(&self, request: &Request) -> Result<ReplyStream, Error> {
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        let seed = self.seed.wrapping_add(number);
        let mut attempt = 1;
        loop {
            let mut error = match self.attempt(request).await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            error.attempts = attempt;
            match self.config.retry.decide(attempt, &error, seed) {
                RetryDecision::Stop(reason) => {
                    tracing::debug!(attempt, ?reason, %error, "request failed");
                    return Err(error);
                }
                RetryDecision::Wait(wait) => {
                    tracing::debug!(attempt, ?wait, %error, "request failed, trying again");
                    tokio::time::sleep(wait).await;
                }
            }
            attempt += 1;
        }
    }

    /// One attempt, up to the first byte of a good response.
    async fn attempt(&self, request: &Request) -> Result<ReplyStream, Error> {
        let limit = self.config.timeouts.first_byte;
        let answered = tokio::time::timeout(limit, self.exchange(request));
        let late = |_| {
            let message = format!("nothing came within {limit:?}");
            Error::new(ErrorClass::Timeout(AwaitedStep::FirstByte), message)
        };
        let answered = answered.await.map_err(late).flatten();
        answered.map_err(|mut error| {
            error.message = self.redactor.redact(&error.message).into();
            error
        })
    }

    async fn exchange(&self, request: &Request) -> Result<ReplyStream, Error> {
        let headers = self
            .headers(request)
            .map_err(|error| Error::new(ErrorClass::Invalid, error.to_string()))?;
        let mut url = self.url.clone();
        if request.query.is_some() {
            url.set_query(request.query.as_deref());
        }
        let body = reqwest::Body::wrap(RequestBodyStream::new(request.body.clone()));
        let sending = self.http.post(url).headers(headers).body(body).send();
        let response = sending.await.map_err(transport::before_answer)?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let mut chunks = ResponseChunks::of(response);
        if !(200..300).contains(&status) {
            let body = chunks.beginning().await;
            let answer = ErrorResponse::from_http(status, &headers, &body, SystemTime::now());
            return Err(answer.into_error());
        }
        let first = match chunks.next().await {
            Some(Ok(first)) => first,
            Some(Err(error)) => return Err(error),
            None => return Err(Error::new(ErrorClass::Cut, "the answer is empty")),
        };
        let redactor = self.redactor.clone();
        let cancel = request.cancel.clone();
        Ok(ReplyStream::new(
            &self.config,
            headers,
            first,
            chunks,
            redactor,
            cancel,
        ))
    }

    fn headers(&self, request: &Request) -> Result<HeaderMap, ClientConfigError> {
        let config = &self.config;
        let betas = config.betas.iter().chain(&request.betas);
        let mut headers = match config.dialect {
            Dialect::Anthropic => {
                anthropic::headers(&config.auth, &config.version, betas.map(String::as_str))?
            }
            Dialect::OpenAi => openai::headers(&config.auth)?,
        };
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        let accepted = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(header::ACCEPT, accepted);
        for (name, value) in config.headers.iter().chain(&request.headers) {
            let bad = || ClientConfigError::Header(name.clone());
            let header = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value.expose()).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(headers)
    }
}

impl Model for Client {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let stream = Client::send(self, client_request(request, cancel)).await?;
            stream.into_reply_with(on_stream).await
        })
    }

    fn send_once<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let stream = Client::send_once(self, client_request(request, cancel)).await?;
            stream.into_reply_with(on_stream).await
        })
    }

    /// The Messages API has it; where a model does not, the table of models says so.
    fn runs_web_searches(&self) -> bool {
        self.dialect() == Dialect::Anthropic
    }
}

/// The request of an engine: its bytes as they are, and what its headers say.
fn client_request(request: ModelRequest, cancel: CancellationToken) -> Request {
    let sent = Request::new(request.body).cancelled_by(cancel);
    request.betas.into_iter().fold(sent, Request::beta)
}

pub(crate) fn cancelled() -> Error {
    Error::new(ErrorClass::Cancelled, "")
}

/// The URL that requests are sent to.
fn endpoint(config: &ClientConfig) -> Result<Url, ClientConfigError> {
    let mut url = Url::parse(config.base_url.expose())
        .map_err(|error| ClientConfigError::BaseUrl(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = format!("`{}` is neither http nor https", url.scheme());
        return Err(ClientConfigError::BaseUrl(scheme));
    }
    let base = url.path().trim_end_matches('/');
    let path = match config.dialect {
        // Some users include the version and some do not; the official clients add it.
        Dialect::Anthropic => format!("{}/v1/messages", base.trim_end_matches("/v1")),
        Dialect::OpenAi => format!("{base}/chat/completions"),
    };
    url.set_path(&path);
    Ok(url)
}

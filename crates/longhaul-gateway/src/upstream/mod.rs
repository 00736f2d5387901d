//! The upstream: a pool of connections to one server.

mod bodies;
mod cause;
mod connect;
pub(crate) mod headers;

use std::error::Error as _;
use std::time::Duration;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use longhaul_provider::{Certificates, chain};
use url::Url;

use bodies::BodyForwardError;
use cause::to_mend;
use connect::TimedConnector;

pub(crate) use bodies::{UpstreamBody, whole};
pub(crate) use headers::without_claims;

use crate::limits::{GatewayLimits, GatewayTimeouts};
use crate::refusal::GatewayRefusal;

/// How many idle connections are kept open.
const IDLE_CONNECTIONS: usize = 1_024;
/// How long idle connections are kept open: less than servers commonly do, so that a request seldom meets a closing
/// one.
const IDLE: Duration = Duration::from_secs(45);
/// How many bytes of a response may wait for a client, if one connection carries many responses.
const WAITING: u32 = 256 << 10;
/// How often such a connection is pinged while responses are awaited on it.
const ALIVE: Duration = Duration::from_secs(20);

/// Why requests cannot be sent anywhere.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// The upstream is not a valid address.
    #[error("the upstream must be an http or https URL with a host, or `sim`")]
    NotAnAddress,
    /// Certificates could not be loaded.
    #[error(transparent)]
    Certificates(#[from] longhaul_provider::ClientConfigError),
}

/// The upstream.
#[derive(Debug)]
pub(crate) struct Upstream {
    client: Client<TimedConnector<HttpsConnector<HttpConnector>>, UpstreamBody>,
    scheme: Scheme,
    authority: Authority,
    host: HeaderValue,
    /// The path of the base URL, without a slash at its end.
    base: String,
    head: Duration,
}

impl Upstream {
    /// Creates the upstream. `roots` are trusted in addition to the system's root certificates.
    pub(super) fn new(
        url: &Url,
        timeouts: GatewayTimeouts,
        limits: GatewayLimits,
        roots: Option<Vec<u8>>,
    ) -> Result<Self, UpstreamError> {
        let wrong = || UpstreamError::NotAnAddress;
        let host = url.host_str().ok_or_else(wrong)?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let (scheme, certificates) = match (url.scheme(), roots) {
            ("http", _) => (Scheme::HTTP, Certificates::None),
            ("https", None) => (Scheme::HTTPS, Certificates::OfTheSystem),
            ("https", Some(roots)) => (Scheme::HTTPS, Certificates::OfTheSystemAnd(roots)),
            _ => return Err(wrong()),
        };
        let mut tls = certificates.config()?;
        // The connector sets the protocols itself.
        tls.alpn_protocols.clear();
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(timeouts.connect));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .enable_http2()
            .wrap_connector(tcp);
        // Data that waits for a slow client must not use up the flow-control window of all responses on a connection.
        let requests = u32::try_from(limits.requests).unwrap_or(u32::MAX);
        let together = WAITING
            .saturating_mul(requests)
            .min(i32::MAX.unsigned_abs());
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_preserve_header_case(true)
            .http2_initial_stream_window_size(WAITING)
            .http2_initial_connection_window_size(together.max(WAITING))
            .http2_keep_alive_interval(ALIVE)
            .http2_keep_alive_timeout(ALIVE)
            .set_host(false)
            .build(TimedConnector::new(connector, timeouts.connect));
        Ok(Self {
            client,
            scheme,
            host: HeaderValue::from_str(&authority).map_err(|_| wrong())?,
            authority: authority.parse().map_err(|_| wrong())?,
            base: url.path().trim_end_matches('/').to_owned(),
            head: timeouts.upstream_head,
        })
    }

    /// The value of `host`.
    pub(super) fn host(&self) -> &HeaderValue {
        &self.host
    }

    /// The target of a request: path and query as they came, after the path of the base URL.
    pub(super) fn uri(&self, asked: &Uri) -> Option<Uri> {
        let asked = asked.path_and_query().map_or("/", PathAndQuery::as_str);
        let path = if self.base.is_empty() {
            asked.parse()
        } else {
            format!("{}{asked}", self.base).parse()
        };
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path.ok()?);
        Uri::from_parts(parts).ok()
    }

    /// Sends a request and waits for the headers of the response.
    pub(crate) async fn send(
        &self,
        request: Request<UpstreamBody>,
    ) -> Result<Response<Incoming>, GatewayRefusal> {
        let answer = tokio::time::timeout(self.head, self.client.request(request));
        match answer.await {
            // No client could have asked for it: the headers that lead to it are not passed on.
            Ok(Ok(answer)) if answer.status() == StatusCode::SWITCHING_PROTOCOLS => {
                Err(self.broke("it changed the protocol, which nobody asked for"))
            }
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.refusal(&error)),
            Err(_) => Err(GatewayRefusal::Silent {
                host: self.authority.to_string(),
                seconds: self.head.as_secs(),
            }),
        }
    }

    /// The refusal for a connection that broke off, with the reason.
    pub(super) fn broke(&self, why: &str) -> GatewayRefusal {
        GatewayRefusal::Broke {
            host: self.authority.to_string(),
            why: why.to_owned(),
        }
    }

    fn refusal(&self, error: &Error) -> GatewayRefusal {
        let mut cause = error.source();
        while let Some(found) = cause {
            if let Some(BodyForwardError(refusal)) = found.downcast_ref() {
                return refusal.clone();
            }
            cause = found.source();
        }
        let host = self.authority.to_string();
        if let Some(why) = to_mend(error) {
            return GatewayRefusal::Mismatch { host, why };
        }
        let why = chain(error);
        if error.is_connect() {
            GatewayRefusal::Unreachable { host, why }
        } else {
            GatewayRefusal::Broke { host, why }
        }
    }
}

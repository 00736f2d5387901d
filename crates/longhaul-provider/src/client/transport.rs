//! The connection: reqwest over rustls, set up so that nothing happens that was not asked for.
//!
//! No redirects (they would send the key elsewhere), no compression (it delays streamed bytes), no proxy from the
//! process's environment. Certificates are checked by the operating system's rules, so that a company's own certificate
//! authority counts; for plain HTTP none are loaded.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::{BuilderVerifierExt, Verifier};
use url::Url;

use crate::config::{ClientConfig, ClientConfigError, Proxy};
use crate::error::{AwaitedStep, Error, ErrorClass};

/// Creates the HTTP client.
pub(super) fn build(
    config: &ClientConfig,
    url: &Url,
) -> Result<reqwest::Client, ClientConfigError> {
    let secure_proxy = config
        .proxy
        .as_ref()
        .is_some_and(|proxy| proxy.url.expose().starts_with("https:"));
    let tls = if url.scheme() == "https" || secure_proxy {
        Certificates::OfTheSystem
    } else {
        Certificates::None
    };
    let builder = http_client(tls, config.proxy.as_ref())?;
    builder
        .connect_timeout(config.timeouts.connect)
        .build()
        .map_err(|error| ClientConfigError::Tls(chain(&error.without_url())))
}

/// A builder for an HTTP client with the same settings, for other things that a host fetches.
///
/// # Errors
/// Fails if the certificates cannot be loaded, or the proxy is not valid.
pub fn http_client(
    certificates: Certificates,
    proxy: Option<&Proxy>,
) -> Result<reqwest::ClientBuilder, ClientConfigError> {
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(certificates.config()?)
        .user_agent(concat!("longhaul/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        // Each is on by default as soon as any crate of the program switches on its feature.
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .no_proxy();
    let Some(proxy) = proxy else {
        return Ok(builder);
    };
    // The error would quote the URL, and with it a password.
    let made = reqwest::Proxy::all(proxy.url.expose())
        .map_err(|_| ClientConfigError::Proxy("not a proxy URL".to_owned()))?;
    let except = proxy.except.as_deref().unwrap_or_default();
    Ok(builder.proxy(made.no_proxy(reqwest::NoProxy::from_string(except))))
}

/// Which certificates are loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Certificates {
    /// The certificates that the operating system trusts.
    OfTheSystem,
    /// The certificates that the operating system trusts, and the roots in this PEM text.
    OfTheSystemAnd(Vec<u8>),
    /// No certificates, for plain HTTP.
    None,
}

impl Certificates {
    /// The TLS configuration of a client that trusts these certificates, for other clients that a host creates.
    ///
    /// # Errors
    /// Fails if the certificates cannot be loaded.
    pub fn config(self) -> Result<rustls::ClientConfig, ClientConfigError> {
        let failed = |error: rustls::Error| ClientConfigError::Tls(error.to_string());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(failed)?;
        let builder = match self {
            Self::OfTheSystem => builder.with_platform_verifier().map_err(failed)?,
            Self::OfTheSystemAnd(pem) => {
                let verifier = Verifier::new_with_extra_roots(roots(&pem)?, provider);
                let verifier = Arc::new(verifier.map_err(failed)?);
                builder
                    .dangerous()
                    .with_custom_certificate_verifier(verifier)
            }
            Self::None => builder.with_root_certificates(rustls::RootCertStore::empty()),
        };
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// The certificates in a PEM text; there must be at least one.
fn roots(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, ClientConfigError> {
    let unreadable = |why: String| ClientConfigError::Tls(format!("the extra certificates {why}"));
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(unreadable("are not PEM".to_owned())),
        Ok(found) => Ok(found),
        Err(error) => Err(unreadable(format!("cannot be read: {error}"))),
    }
}

/// The error for a failure before any response arrived.
pub(super) fn before_answer(error: reqwest::Error) -> Error {
    let class = if error.is_connect() && error.is_timeout() {
        ErrorClass::Timeout(AwaitedStep::Connection)
    } else if error.is_builder() {
        ErrorClass::Invalid
    } else {
        ErrorClass::Retry { after: None }
    };
    // The host helps to see what is wrong; the rest of the URL may contain secrets.
    let host = error.url().and_then(|url| {
        let host = url.host_str()?;
        Some(match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        })
    });
    let said = chain(&error.without_url());
    Error::new(
        class,
        match host {
            Some(host) => format!("{host}: {said}"),
            None => said,
        },
    )
}

/// An error and its causes in one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

/// The bytes of a response, as they arrive.
pub(super) struct ResponseChunks(Pin<Box<dyn Stream<Item = Result<Bytes, reqwest::Error>> + Send>>);

impl ResponseChunks {
    pub(super) fn of(response: reqwest::Response) -> Self {
        Self(Box::pin(response.bytes_stream()))
    }

    /// The next bytes; a failure means that the reply broke off.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let cut = |error: reqwest::Error| Error::new(ErrorClass::Cut, chain(&error.without_url()));
        self.0
            .as_mut()
            .poll_next(cx)
            .map(|next| next.map(|chunk| chunk.map_err(cut)))
    }

    pub(super) async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    /// The beginning of an error's body, as much as arrives soon: the status already tells what failed.
    pub(super) async fn beginning(&mut self) -> Vec<u8> {
        const LONGEST: usize = 64 << 10;
        const SOON: Duration = Duration::from_secs(10);
        let mut body = Vec::new();
        let reading = async {
            while let Some(Ok(chunk)) = self.next().await
                && body.len() < LONGEST
            {
                let room = LONGEST - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            }
        };
        // When time is up, what has arrived is used.
        let _ = tokio::time::timeout(SOON, reading).await;
        body
    }
}

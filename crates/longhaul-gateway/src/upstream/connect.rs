//! Connects with one timeout for the whole: a server that accepts a connection and then does not answer the TLS
//! handshake is not waited for.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A connector with a timeout.
#[derive(Debug, Clone)]
pub(super) struct TimedConnector<C> {
    connector: C,
    limit: Duration,
}

impl<C> TimedConnector<C> {
    pub(super) fn new(connector: C, limit: Duration) -> Self {
        Self { connector, limit }
    }
}

impl<C> Service<Uri> for TimedConnector<C>
where
    C: Service<Uri, Error = BoxError>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connected = tokio::time::timeout(self.limit, self.connector.call(uri));
        Box::pin(async move {
            let late = |_| io::Error::new(io::ErrorKind::TimedOut, "it took too long");
            connected.await.map_err(late)?
        })
    }
}

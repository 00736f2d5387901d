//! How much the gateway accepts, and how long it waits.

use std::time::Duration;

/// Limits beyond which requests are rejected or have to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatewayLimits {
    /// Bytes of a request body.
    pub body: usize,
    /// Bytes of a request's headers.
    pub head: usize,
    /// Requests at once.
    pub requests: usize,
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
    /// Branches that are remembered in memory.
    pub branches: usize,
    /// Bytes that all requests in flight and all caches may take together.
    pub memory: usize,
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self {
            body: 256 << 20,
            head: 256 << 10,
            requests: 1_024,
            connections: 8_192,
            branches: 100_000,
            memory: 1 << 30,
        }
    }
}

/// How long the gateway waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatewayTimeouts {
    /// For the first byte on a new connection, and for the rest of headers that have begun.
    pub client_first: Duration,
    /// For the next request on an open connection.
    pub client_head: Duration,
    /// For the next bytes of a client's body, and for a client to accept bytes.
    pub client_idle: Duration,
    /// For a connection to the upstream.
    pub connect: Duration,
    /// For the headers of the upstream's response: models may think for long before a response that is not streamed.
    pub upstream_head: Duration,
    /// For the next bytes of the upstream's response.
    pub upstream_idle: Duration,
    /// For a summary from a model, if a request would not fit without one; after that, extracts have to do.
    pub summary: Duration,
    /// For requests in flight when the gateway is stopped.
    pub drain: Duration,
}

impl Default for GatewayTimeouts {
    fn default() -> Self {
        Self {
            client_first: Duration::from_secs(10),
            client_head: Duration::from_secs(75),
            client_idle: Duration::from_secs(60),
            connect: Duration::from_secs(10),
            upstream_head: Duration::from_secs(1_200),
            upstream_idle: Duration::from_secs(300),
            summary: Duration::from_secs(120),
            drain: Duration::from_secs(30),
        }
    }
}

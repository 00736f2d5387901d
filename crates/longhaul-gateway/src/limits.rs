//! How much the gateway accepts, and how long it waits.

use std::time::Duration;

/// Limits beyond which requests are rejected or have to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatewayLimits {
    /// The most bytes of a request body.
    pub body: usize,
    /// The most bytes of a request's headers.
    pub head: usize,
    /// The most requests at once.
    pub requests: usize,
    /// The most connections at once; further ones wait to be accepted.
    pub connections: usize,
    /// The most branches that are remembered in memory.
    pub branches: usize,
    /// The most bytes that all requests in flight and all caches may take together.
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
    /// The time for the first byte on a new connection, and for the rest of headers that have begun.
    pub client_first: Duration,
    /// The time for the next request on an open connection.
    pub client_head: Duration,
    /// The time for the next bytes of a client's body, and for a client to accept bytes.
    pub client_idle: Duration,
    /// The time for connecting to the upstream.
    pub connect: Duration,
    /// The time for the headers of the upstream's response: models may think for long before a response that is not
    /// streamed.
    pub upstream_head: Duration,
    /// The time for the next bytes of the upstream's response.
    pub upstream_idle: Duration,
    /// The time for a summary from a model, if a request would not fit without one; after that, extracts have to do.
    pub summary: Duration,
    /// The time for requests in flight to finish when the gateway is stopped.
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

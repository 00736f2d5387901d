//! How much the gateway takes, and how long it waits.

use std::time::Duration;

/// What is refused because it is too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatewayLimits {
    /// Bytes of a request body.
    pub body: usize,
    /// Bytes of a request's head.
    pub head: usize,
    /// Requests at once.
    pub requests: usize,
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
    /// Lines that are remembered in memory.
    pub branches: usize,
    /// Bytes that all requests under way and all that is remembered may take together.
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

/// How long is waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatewayTimeouts {
    /// For the first byte on a new connection, and for the rest of a head that was begun.
    pub client_first: Duration,
    /// For the next request on an open connection.
    pub client_head: Duration,
    /// For the next bytes of a client's body, and for a client to take bytes.
    pub client_idle: Duration,
    /// For a connection to the upstream.
    pub connect: Duration,
    /// For the head of the upstream's answer: models may think for long before an answer that is not streamed.
    pub upstream_head: Duration,
    /// For the next bytes of the upstream's answer.
    pub upstream_idle: Duration,
    /// For a summary that a model writes, where a request would not fit without one; then extracts have to do.
    pub summary: Duration,
    /// For requests under way when the gateway is stopped.
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

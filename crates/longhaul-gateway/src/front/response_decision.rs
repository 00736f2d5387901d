//! What is done with a response of the upstream.

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use hyper::body::Incoming;

/// What to do with a response.
pub(super) enum ResponseDecision {
    /// Pass it back as it arrives.
    Pass(Response<Incoming>),
    /// Pass back the part that was read.
    Held(Response<Bytes>),
    /// Send this body instead; if that fails, the response stands.
    Retry(Vec<Bytes>, Response<Bytes>),
}

impl ResponseDecision {
    /// Status and headers of the response that stands.
    pub(super) fn head(&self) -> (StatusCode, &HeaderMap) {
        match self {
            Self::Pass(answer) => (answer.status(), answer.headers()),
            Self::Held(answer) | Self::Retry(_, answer) => (answer.status(), answer.headers()),
        }
    }
}

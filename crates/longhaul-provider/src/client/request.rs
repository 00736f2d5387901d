//! A request: a finished body, and what this request adds to the client's headers.

use std::sync::Arc;

use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use crate::key::Secret;

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    pub(super) body: RequestBody,
    pub(super) betas: Vec<String>,
    pub(super) headers: Vec<(String, Secret)>,
    pub(super) query: Option<String>,
    pub(super) cancel: Option<CancellationToken>,
}

/// The bytes of a request: slices that are sent one after the other, unchanged.
#[derive(Clone)]
pub struct RequestBody(Arc<[Bytes]>);

impl RequestBody {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|slice| slice.len() as u64).sum()
    }

    /// The slices, in the order in which they are sent.
    pub(super) fn slices(&self) -> &[Bytes] {
        &self.0
    }

    /// Whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes in {} slices", self.len(), self.0.len())
    }
}

impl From<Vec<Bytes>> for RequestBody {
    fn from(slices: Vec<Bytes>) -> Self {
        Self(slices.into())
    }
}

impl From<Bytes> for RequestBody {
    fn from(bytes: Bytes) -> Self {
        Self([bytes].into())
    }
}

impl From<Vec<u8>> for RequestBody {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl Request {
    /// A request with this body.
    pub fn new(body: impl Into<RequestBody>) -> Self {
        Self {
            body: body.into(),
            betas: Vec::new(),
            headers: Vec::new(),
            query: None,
            cancel: None,
        }
    }

    /// Requests a beta of the Messages API, in addition to those of the client.
    #[must_use]
    pub fn beta(mut self, name: impl Into<String>) -> Self {
        self.betas.push(name.into());
        self
    }

    /// Adds a header, or replaces one of the client's.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl AsRef<str>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    /// Adds a query to the URL, such as `beta=true`.
    #[must_use]
    pub fn query(mut self, query: impl Into<String>) -> Self {
        self.query = Some(query.into());
        self
    }

    /// Ends the exchange when the token is cancelled, at any stage. Dropping the future or the stream also ends it,
    /// without an error.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }
}

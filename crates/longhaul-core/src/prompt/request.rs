//! The kinds of requests and their assembled form. `assemble.rs` builds them.

use bytes::Bytes;

use super::MessageBreakpoints;

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind<'a> {
    /// The conversation's next turn.
    Main,
    /// The same conversation with one more user message, which nothing will continue (F7). It reads the cache and
    /// writes nothing to it.
    Fork {
        /// The message.
        text: &'a str,
    },
    /// The conversation alone, which a field after it asks the provider to summarize (N3). It writes nothing to the
    /// cache either.
    SummedUp,
}

/// A request's body.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AssembledRequest {
    /// The slices of the body, in order.
    pub slices: Vec<Bytes>,
    /// The blocks with a cache breakpoint, as indices into [`Rendering::blocks`](crate::normalize::Rendering::blocks).
    pub breakpoints: MessageBreakpoints,
}

impl AssembledRequest {
    /// The size of the body.
    pub fn len(&self) -> usize {
        self.slices.iter().map(Bytes::len).sum()
    }

    /// Whether the body is empty, which never happens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the body in one piece, for display and comparison, not for sending.
    pub fn to_vec(&self) -> Vec<u8> {
        self.slices.concat()
    }
}

/// Why a request cannot be made now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestNotReady {
    /// Something that shapes the request's bytes is not on disk.
    #[error(
        "the request prefix is not on disk yet: append the entries that `entries_before_request` returns, then acknowledge them"
    )]
    NotPersisted,
    /// Some calls have no results yet.
    #[error(
        "{0} tool calls have no result yet: append their results, or the entries that `entries_before_request` returns"
    )]
    OpenCalls(usize),
    /// There is nothing to send.
    #[error("the conversation has no message yet")]
    Empty,
    /// The conversation ends with a reply, and current models refuse a prefill (N6).
    #[error("the conversation ends with a reply: add what the user says to it")]
    NothingAsked,
    /// An extra field is already part of the request prefix.
    #[error("`{0}` is already part of the request prefix: it cannot be sent twice")]
    Repeated(String),
    /// The request prefix holds fields that cannot be combined with this kind of request.
    #[error("the provider cannot summarize a request with these settings")]
    Unsuited,
}

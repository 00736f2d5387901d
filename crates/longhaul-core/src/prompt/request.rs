//! A request as it is asked for and as it comes out. How it is put together is in `assemble.rs`.

use bytes::Bytes;

use super::MessageBreakpoints;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind<'a> {
    /// The conversation's next turn.
    Main,
    /// The same conversation with one more message of the user, which nothing will continue (F7): it reads the cache
    /// and writes nothing to it.
    Fork {
        /// The message.
        text: &'a str,
    },
    /// The conversation alone, which a field behind it asks the provider to sum up (N3). It writes nothing to the cache
    /// either.
    SummedUp,
}

/// A request's body.
#[derive(Debug, Clone)]
pub struct AssembledRequest {
    /// The bytes, one behind the other.
    pub slices: Vec<Bytes>,
    /// The marked blocks, indices into [`Rendering::blocks`](crate::normalize::Rendering::blocks).
    pub breakpoints: MessageBreakpoints,
}

impl AssembledRequest {
    /// The size of the body.
    pub fn len(&self) -> usize {
        self.slices.iter().map(Bytes::len).sum()
    }

    /// Whether there is nothing in it; never so.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The body in one piece: for showing and comparing, not for sending.
    pub fn to_vec(&self) -> Vec<u8> {
        self.slices.concat()
    }
}

/// Why a request cannot be made now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestNotReady {
    /// Something that shapes its bytes is not on disk.
    #[error("the head is not on disk yet: append what `before_sending` gives, then acknowledge it")]
    NotPersisted,
    /// Calls wait for their results.
    #[error(
        "{0} tool calls have no result yet: append their results, or what `before_sending` gives"
    )]
    OpenCalls(usize),
    /// There is nothing to send.
    #[error("the conversation has no message yet")]
    Empty,
    /// The conversation ends with a reply, and a prefill is refused by current models (N6).
    #[error("the conversation ends with a reply: add what the user says to it")]
    NothingAsked,
    /// An extra field is part of the head already.
    #[error("`{0}` is part of the head already: it cannot be sent twice")]
    Repeated(String),
    /// The head holds fields that cannot go with what is asked.
    #[error("the provider cannot sum up a request with these settings")]
    Unsuited,
}

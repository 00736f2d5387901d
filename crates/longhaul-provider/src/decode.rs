//! What the decoders of both dialects share: their faults, and the choice between them.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::error::{Answer, Error, ErrorClass};
use crate::event::StreamEvent;
use crate::reply::Reply;
use crate::{Dialect, anthropic, openai, sse};

/// Why an answer could not be decoded to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The server says, inside the answer, that it failed.
    #[error("{}", .0.message)]
    Answer(Box<Answer>),
    /// The bytes are not what the API sends.
    #[error("{0}")]
    Malformed(String),
}

impl DecodeError {
    pub(crate) fn malformed(what: &str, bytes: &[u8]) -> Self {
        const SHOWN: usize = 120;
        let mut start: String = String::from_utf8_lossy(bytes).chars().take(SHOWN).collect();
        if start.len() < bytes.len() {
            start.push('…');
        }
        Self::Malformed(format!("{what}: {start}"))
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Answer(answer) => answer.into_error(),
            DecodeError::Malformed(message) => Error::new(ErrorClass::Malformed, message),
        }
    }
}

/// How far a stream has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More is to come.
    Open,
    /// The model has stopped; only the closing event is missing.
    Stopped,
    /// The closing event came.
    Closed,
}

/// Folds the events of one stream into a reply.
#[derive(Debug)]
pub enum Decoder {
    /// The Messages API.
    Anthropic(Box<anthropic::Decoder>),
    /// Chat completions.
    OpenAi(Box<openai::Decoder>),
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    pub fn new(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Anthropic => Self::Anthropic(Box::default()),
            Dialect::OpenAi => Self::OpenAi(Box::default()),
        }
    }

    /// Takes one event; what a host should hear of it is appended to `out`.
    ///
    /// # Errors
    /// As [`DecodeError`]. What was folded before stays readable through [`Decoder::into_reply`].
    pub fn event(
        &mut self,
        event: sse::Event<'_>,
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), DecodeError> {
        match self {
            Self::Anthropic(decoder) => decoder.event(event, out),
            Self::OpenAi(decoder) => decoder.event(event, out),
        }
    }

    /// How far the stream has come.
    pub fn progress(&self) -> Progress {
        match self {
            Self::Anthropic(decoder) => decoder.progress(),
            Self::OpenAi(decoder) => decoder.progress(),
        }
    }

    /// The reply as far as it came.
    pub fn into_reply(self) -> Reply {
        match self {
            Self::Anthropic(decoder) => decoder.into_reply(),
            Self::OpenAi(decoder) => decoder.into_reply(),
        }
    }
}

/// Decodes an answer that is one JSON text.
///
/// # Errors
/// As [`DecodeError`].
pub fn decode_json(dialect: Dialect, body: &Bytes) -> Result<Reply, DecodeError> {
    match dialect {
        Dialect::Anthropic => anthropic::decode_json(body),
        Dialect::OpenAi => openai::decode_json(body),
    }
}

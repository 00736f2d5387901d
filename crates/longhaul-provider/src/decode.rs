//! The choice between the decoders of the two dialects.

use std::collections::VecDeque;

use bytes::Bytes;

pub use crate::decode_error::DecodeError;
use crate::event::StreamEvent;
pub use crate::progress::StreamProgress;
use crate::reply::Reply;
use crate::{Dialect, anthropic, openai, sse};

/// Folds the events of one stream into a reply.
#[derive(Debug)]
pub enum ReplyDecoder {
    /// The Messages API.
    Anthropic(Box<anthropic::AnthropicDecoder>),
    /// Chat completions.
    OpenAi(Box<openai::OpenAiDecoder>),
}

impl ReplyDecoder {
    /// A decoder at the beginning of a stream.
    pub fn new(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Anthropic => Self::Anthropic(Box::default()),
            Dialect::OpenAi => Self::OpenAi(Box::default()),
        }
    }

    /// Takes one event; the resulting stream events are appended to `out`.
    ///
    /// # Errors
    /// Fails with a [`DecodeError`]. What was folded before stays available through [`ReplyDecoder::into_reply`].
    pub fn event(
        &mut self,
        event: sse::SseEvent<'_>,
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), DecodeError> {
        match self {
            Self::Anthropic(decoder) => decoder.event(event, out),
            Self::OpenAi(decoder) => decoder.event(event, out),
        }
    }

    /// How far the stream has come.
    pub fn progress(&self) -> StreamProgress {
        match self {
            Self::Anthropic(decoder) => decoder.progress(),
            Self::OpenAi(decoder) => decoder.progress(),
        }
    }

    /// The reply as far as it arrived.
    pub fn into_reply(self) -> Reply {
        match self {
            Self::Anthropic(decoder) => decoder.into_reply(),
            Self::OpenAi(decoder) => decoder.into_reply(),
        }
    }
}

/// Decodes a response that is one JSON text.
///
/// # Errors
/// Fails with a [`DecodeError`].
pub fn decode_json(dialect: Dialect, body: &Bytes) -> Result<Reply, DecodeError> {
    match dialect {
        Dialect::Anthropic => anthropic::decode_json(body),
        Dialect::OpenAi => openai::decode_json(body),
    }
}

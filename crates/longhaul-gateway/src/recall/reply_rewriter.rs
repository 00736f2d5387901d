//! Turns the streamed replies to one request into the stream that the client sees: one message, without the calls of the
//! tool. Events are passed on as soon as they come, except for the end of a reply, which waits until it is known whether
//! another reply follows.

use longhaul_provider::Dialect;
use longhaul_provider::sse::SseEvent;

use super::reply_ending::{StreamEnding, write_event};
use super::streamed_chat::ChatRewriter;
use super::streamed_messages::MessagesRewriter;

/// Rewrites the streams of one request.
#[derive(Debug)]
pub(crate) enum ReplyRewriter {
    Messages(MessagesRewriter),
    Chat(ChatRewriter),
}

impl ReplyRewriter {
    pub(crate) fn new(dialect: Dialect, tool: &str) -> Self {
        match dialect {
            Dialect::Anthropic => Self::Messages(MessagesRewriter::new(tool)),
            Dialect::OpenAi => Self::Chat(ChatRewriter::new(tool)),
        }
    }

    /// Takes one event of the current reply; what the client sees of it is appended to `out`.
    pub(crate) fn event(&mut self, event: SseEvent<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Messages(rewriter) => rewriter.event(event, out),
            Self::Chat(rewriter) => rewriter.event(event, out),
        }
    }

    /// Another reply follows: the end of the current one is dropped.
    pub(crate) fn another_reply(&mut self) {
        match self {
            Self::Messages(rewriter) => rewriter.another_reply(),
            Self::Chat(rewriter) => rewriter.another_reply(),
        }
    }

    /// The stream ends with the current reply.
    pub(crate) fn end(&mut self, ending: StreamEnding<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Messages(rewriter) => rewriter.end(ending, out),
            Self::Chat(rewriter) => rewriter.end(ending, out),
        }
    }

    /// An error in place of the rest of the stream, as the API sends one. `body` is the body of an error response.
    pub(crate) fn error(&self, body: &[u8], out: &mut Vec<u8>) {
        // An event's data is one line here.
        let line: Vec<u8> = body
            .iter()
            .map(|byte| {
                if matches!(byte, b'\n' | b'\r') {
                    b' '
                } else {
                    *byte
                }
            })
            .collect();
        match self {
            Self::Messages(_) => write_event(b"error", &line, out),
            Self::Chat(_) => write_event(b"message", &line, out),
        }
    }
}

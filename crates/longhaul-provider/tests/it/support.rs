//! Ways to push bytes through the decoders.

use std::collections::VecDeque;

use longhaul_provider::decode::{DecodeError, ReplyDecoder, StreamProgress};
use longhaul_provider::{Dialect, Reply, StreamEvent, sse};

/// The outcome of a stream.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) failure: Option<DecodeError>,
    pub(crate) progress: StreamProgress,
    pub(crate) reply: Reply,
}

/// Decodes a stream that arrives in these chunks.
pub(crate) fn decode_chunks<'a>(
    dialect: Dialect,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    let mut lines = sse::SseDecoder::default();
    let mut decoder = ReplyDecoder::new(dialect);
    let mut queue = VecDeque::new();
    let mut failure = None;
    'all: for chunk in chunks {
        let mut rest = chunk;
        while let Some(event) = lines.next(&mut rest).unwrap() {
            if let Err(error) = decoder.event(event, &mut queue) {
                failure = Some(error);
                break 'all;
            }
        }
    }
    Outcome {
        events: queue.into(),
        failure,
        progress: decoder.progress(),
        reply: decoder.into_reply(),
    }
}

/// Decodes a stream that arrives in one piece.
pub(crate) fn decode(dialect: Dialect, stream: &str) -> Outcome {
    decode_chunks(dialect, [stream.as_bytes()])
}

/// Events of the Messages API as a stream, named by their types.
pub(crate) fn stream_of(events: &[&str]) -> String {
    let named = events.iter().map(|event| {
        let value: serde_json::Value = serde_json::from_str(event).unwrap_or_default();
        let name = value["type"].as_str().unwrap_or("message");
        format!("event: {name}\ndata: {event}\n\n")
    });
    named.collect()
}

/// Bytes cut at positions derived from a seed, mostly into small pieces.
pub(crate) fn cut(bytes: &[u8], seed: u64) -> Vec<&[u8]> {
    let mut state = seed;
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let most = 1 << (1 + (state >> 60));
        let length = (1 + (state >> 33) as usize % most).min(rest.len());
        let (piece, behind) = rest.split_at(length);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// A small complete reply of the Messages API.
pub(crate) const HELLO: &[&str] = &[
    r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":", you"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}"#,
    r#"{"type":"message_stop"}"#,
];

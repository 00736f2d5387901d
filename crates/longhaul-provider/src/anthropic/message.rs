//! Reads a reply that came as one JSON message.
//!
//! Its blocks are slices of the body: none of their bytes are copied or changed.

use bytes::Bytes;
use longhaul_core::json::{JsonCursor, JsonKind};

use crate::block::{BlockCompleteness, ReplyBlock};
use crate::decode_error::DecodeError;
use crate::error::ErrorResponse;
use crate::raw::RawObject;
use crate::reply::Reply;

/// Decodes a message.
///
/// # Errors
/// Fails if the body is an error, or not a message.
pub fn decode_json(body: &Bytes) -> Result<Reply, DecodeError> {
    let malformed = |what| DecodeError::malformed(what, body);
    if std::str::from_utf8(body).is_err() {
        return Err(malformed("the answer is not UTF-8"));
    }
    let mut message =
        RawObject::parse(body).map_err(|_| malformed("the answer is not a JSON object"))?;
    match message.text("type").as_deref() {
        Some("message") => {}
        Some("error") => {
            return Err(DecodeError::Answer(Box::new(ErrorResponse::from_body(
                body,
            ))));
        }
        _ if message.get("error").is_some() => {
            return Err(DecodeError::Answer(Box::new(ErrorResponse::from_body(
                body,
            ))));
        }
        _ => return Err(malformed("the answer is not a message")),
    }
    let mut blocks = Vec::new();
    let mut cursor = JsonCursor::new(body);
    let walked = cursor.object(|cursor, key| {
        if key != b"content" || cursor.peek()? != JsonKind::Array {
            return cursor.skip();
        }
        blocks.clear();
        cursor.array(|cursor| {
            let block = body.slice_ref(cursor.raw()?);
            blocks.push(ReplyBlock::new(block, BlockCompleteness::Whole));
            Ok(())
        })
    });
    if walked.is_err() {
        return Err(malformed("the answer is not a JSON object"));
    }
    message.set("content", *b"[]");
    let mut reply = Reply {
        message,
        blocks,
        ..Reply::default()
    };
    reply.settle();
    Ok(reply)
}

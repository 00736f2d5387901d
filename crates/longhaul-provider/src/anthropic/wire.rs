//! The frames of a Messages stream, borrowed from the event's data.
//!
//! Only the fields that distinguish frames are parsed; every value stays raw, and unknown fields are listed, so that
//! they reach the reply.

use std::borrow::Cow;

use longhaul_core::json::{self, JsonCursor};

use crate::decode_error::DecodeError;

/// One frame: the JSON object of one event.
#[derive(Debug, Default)]
pub(crate) struct MessagesFrame<'a> {
    pub(crate) kind: Cow<'a, str>,
    pub(crate) index: u64,
    /// The `message` of a `message_start`.
    pub(crate) message: Option<&'a [u8]>,
    /// The `content_block` of a `content_block_start`.
    pub(crate) block: Option<&'a [u8]>,
    pub(crate) delta: Option<&'a [u8]>,
    pub(crate) usage: Option<&'a [u8]>,
    /// All other fields, such as `context_management`.
    pub(crate) others: Vec<(String, &'a [u8])>,
}

impl<'a> MessagesFrame<'a> {
    pub(crate) fn parse(data: &'a [u8]) -> Result<Self, DecodeError> {
        if std::str::from_utf8(data).is_err() {
            return Err(DecodeError::malformed("an event is not UTF-8", data));
        }
        let mut frame = Self::default();
        let mut cursor = JsonCursor::new(data);
        let walked = cursor.object(|cursor, key| {
            if key == b"index" {
                frame.index = cursor.count_or_skip()?.unwrap_or(0);
                return Ok(());
            }
            let value = cursor.raw()?;
            match key {
                b"type" => frame.kind = json::text(value).unwrap_or_default(),
                b"message" => frame.message = Some(value),
                b"content_block" => frame.block = Some(value),
                b"delta" => frame.delta = Some(value),
                b"usage" => frame.usage = Some(value),
                _ => frame
                    .others
                    .push((String::from_utf8_lossy(key).into_owned(), value)),
            }
            Ok(())
        });
        match walked.and_then(|()| cursor.end()) {
            Ok(()) => Ok(frame),
            Err(fault) => Err(DecodeError::malformed(
                &format!("an event is not JSON ({fault})"),
                data,
            )),
        }
    }
}

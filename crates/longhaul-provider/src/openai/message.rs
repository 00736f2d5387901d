//! Reads a chat completion that came as one JSON text: one chunk with everything.

use std::collections::VecDeque;

use bytes::Bytes;
use longhaul_core::json::ObjectReader;

use super::{OpenAiDecoder, wire};
use crate::decode_error::DecodeError;
use crate::raw;
use crate::reply::Reply;
use crate::usage;

/// Decodes a completion.
///
/// # Errors
/// Fails if the body is an error, or not a completion.
pub fn decode_json(body: &Bytes) -> Result<Reply, DecodeError> {
    let completion = wire::object(body)?;
    let choices = raw::items(completion.get("choices").unwrap_or_default());
    if choices.is_empty() {
        return Err(DecodeError::malformed(
            "the answer is not a completion",
            body,
        ));
    }
    let mut decoder = OpenAiDecoder::default();
    decoder.read_id_and_model(completion);
    let mut unheard = VecDeque::new();
    for choice in choices {
        decoder.choice(ObjectReader::new(choice), &mut unheard);
    }
    if let Some(told) = completion
        .get("usage")
        .filter(|told| usage::is_object(told))
    {
        decoder.set_usage(usage::openai(told));
    }
    decoder.close();
    Ok(decoder.into_reply())
}

//! The conversation of a request by position: each content block is one position, as the provider's cache counts.

use bytes::Bytes;

use super::breakpoint::{BreakpointPositions, CacheBreakpoint};
use super::canonical;
use super::fields::{JsonFields, items};
use super::speaker::MessageSpeaker;
use crate::json::JsonFault;
use crate::message::BlockKind;
use crate::normalize::{AppendBuffer, RenderedBlock, RenderedMessage};
use crate::xxh3::Xxh3_64;

/// One position of the message prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachePosition {
    /// The speaker of the message.
    pub speaker: MessageSpeaker,
    /// The message that the position belongs to, counted from 0.
    pub message: u32,
    /// The kind of the block.
    pub kind: BlockKind,
    /// The block's effect on the positions around it.
    pub traits: BlockTraits,
    /// The hash of the speaker and the canonical block.
    pub hash: u64,
    /// The block's JSON, shared with the request it was sent in, so that changes can be shown.
    pub bytes: Bytes,
}

/// A block's effect on the positions around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockTraits {
    /// The block is or contains an image.
    pub image: bool,
    /// The block requests citations.
    pub citations: bool,
    /// The block is a provider's summary: what comes before it is not in the prompt.
    pub summary: bool,
}

impl CachePosition {
    /// Builds a position. `aside` is the hash of the message's fields besides role and content.
    fn of(
        speaker: MessageSpeaker,
        message: u32,
        aside: u128,
        bytes: Bytes,
    ) -> (Self, Option<CacheBreakpoint>) {
        let fields = JsonFields::of(&bytes).ok();
        let kind = fields.as_ref().and_then(|fields| fields.string("type"));
        let kind = kind.as_deref().unwrap_or("text");
        let parts = fields.as_ref().and_then(|fields| fields.get("content"));
        let parts = parts.and_then(|parts| items(parts).ok());
        let parts = parts
            .iter()
            .flatten()
            .filter_map(|part| JsonFields::of(part).ok());
        let is_result = kind == "tool_result";
        let mut image = kind == "image";
        let mut mark = None;
        for part in parts.filter(|_| is_result) {
            image |= part.get("type") == Some(br#""image""#);
            // A breakpoint inside a result ends with the result.
            mark = part
                .get("cache_control")
                .and_then(CacheBreakpoint::read)
                .or(mark);
        }
        let field = |name| fields.as_ref().and_then(|fields| fields.get(name));
        let enabled = |citations| JsonFields::of(citations).is_ok_and(|c| c.is_true("enabled"));
        let traits = BlockTraits {
            image,
            citations: matches!(kind, "document" | "search_result")
                && field("citations").is_some_and(enabled),
            summary: kind == "compaction" && field("content").is_some(),
        };
        let mut hash = Xxh3_64::new();
        hash.update(&canonical::block(&bytes).to_le_bytes());
        hash.update(&aside.to_le_bytes());
        hash.update(speaker.name().as_bytes());
        let position = Self {
            speaker,
            message,
            kind: BlockKind::from_type(kind.as_bytes()),
            traits,
            hash: hash.digest(),
            bytes: bytes.clone(),
        };
        (
            position,
            field("cache_control")
                .and_then(CacheBreakpoint::read)
                .or(mark),
        )
    }
}

/// The positions of a request's `messages`, and which of them carry a breakpoint.
pub(super) fn read(
    body: &Bytes,
    messages: &[u8],
) -> Result<(Vec<CachePosition>, BreakpointPositions), JsonFault> {
    let mut positions = Vec::new();
    let mut marks = Vec::new();
    for (index, raw) in (0..).zip(items(messages)?) {
        let fields = JsonFields::of(raw)?;
        let speaker = MessageSpeaker::of(fields.string("role").as_deref().unwrap_or_default());
        let others = fields.0.iter();
        let aside = others
            .filter(|(name, _)| !matches!(&**name, b"role" | b"content"))
            .fold(0, |sum, (_, value)| sum ^ canonical::setting(value));
        let content = match fields.get("content") {
            Some(list @ [b'[', ..]) => items(list)?,
            Some(plain) => vec![plain],
            None => Vec::new(),
        };
        for block in content {
            let (position, mark) = CachePosition::of(speaker, index, aside, body.slice_ref(block));
            marks.extend(mark.map(|mark| (positions.len(), mark)));
            positions.push(position);
        }
    }
    Ok((positions, marks))
}

/// The positions of a rendering after the first `known`. The cost depends only on what is new.
pub(super) fn rendered(
    known: usize,
    buffer: &AppendBuffer,
    blocks: &[RenderedBlock],
    messages: &[RenderedMessage],
) -> Vec<CachePosition> {
    let new = blocks.iter().skip(known);
    new.map(|block| {
        let mut slices = Vec::new();
        buffer.slices(block.start, block.end, &mut slices);
        let bytes = match &slices[..] {
            [whole] => whole.clone(),
            _ => Bytes::from(slices.concat()),
        };
        let message = messages.get(block.message as usize);
        let speaker = message.map_or(MessageSpeaker::User, |message| message.role.into());
        CachePosition::of(speaker, block.message, 0, bytes).0
    })
    .collect()
}

//! What one pass over a line noted about it.

use std::borrow::Cow;

use jiff::Timestamp;

use super::{ByteSpan, EntryBlock, EntryKind, Id, Sent, Subtype, Usage};
use crate::json::{self, ObjectReader};

/// Yes/no facts of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryFlags {
    /// Belongs to a sub-agent's conversation.
    pub sidechain: bool,
    /// Shown nowhere. Display only: it is sent all the same.
    pub meta: bool,
    /// Carries a compaction's summary.
    pub compact_summary: bool,
    /// Shown only when the full transcript is expanded. Display only.
    pub transcript_only: bool,
    /// Records a failed API call, not a reply.
    pub api_error: bool,
    /// `message.model` is `<synthetic>`: written by the host, not by a model.
    pub synthetic: bool,
    /// Has a `message` object.
    pub has_message: bool,
    /// The message's content is a plain string, not a list of blocks.
    pub string_content: bool,
    /// The reply ended because the window was full.
    pub window_exceeded: bool,
}

/// The notes on one entry: spans into its line, and sizes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryFacets {
    /// What it is.
    pub kind: EntryKind,
    /// Which system entry it is.
    pub subtype: Subtype,
    /// Yes/no facts.
    pub flags: EntryFlags,
    /// Content of the `uuid` literal. Entries without one are outside the parent chain.
    pub uuid: ByteSpan,
    /// Content of the `parentUuid` literal; absent for `null` too.
    pub parent: ByteSpan,
    /// Content of the `logicalParentUuid` literal.
    pub logical_parent: ByteSpan,
    /// Content of the `sessionId` literal.
    pub session: ByteSpan,
    /// Content of the `timestamp` literal.
    pub timestamp: ByteSpan,
    /// Content of the `type` literal.
    pub type_name: ByteSpan,
    /// Content of the `message.id` literal.
    pub message_id: ByteSpan,
    /// Content of the `message.model` literal.
    pub model: ByteSpan,
    /// The `attachment` value, as JSON.
    pub attachment: ByteSpan,
    /// UTF-16 units of the serialised `attachment` value.
    pub attachment_units: u32,
    /// The `compactMetadata`, `microcompactMetadata` or `undoMetadata` object, as JSON.
    pub metadata: ByteSpan,
    /// The message's content blocks.
    pub blocks: Vec<EntryBlock>,
    /// The reply's usage.
    pub usage: Option<Box<Usage>>,
}

impl EntryFacets {
    /// Reads these notes against the line they were taken from.
    pub fn view<'a>(&'a self, line: &'a [u8]) -> EntryView<'a> {
        EntryView { facets: self, line }
    }

    pub(crate) fn clear(&mut self) {
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.clear();
        *self = Self {
            blocks,
            ..Self::default()
        };
    }

    /// Whether this is a reply of a model: not a record of an error, not written by the host.
    pub fn is_reply(&self) -> bool {
        Sent::is_reply(self.kind, self.flags)
    }
}

/// An entry's notes together with its bytes: what readers of an entry use.
#[derive(Debug, Clone, Copy)]
pub struct EntryView<'a> {
    /// The notes.
    pub facets: &'a EntryFacets,
    /// The bytes.
    pub line: &'a [u8],
}

impl<'a> EntryView<'a> {
    /// For a record of cache edits (U4): the calls whose results every request asks to drop from then on. Such an entry
    /// clears nothing.
    pub fn cache_edits(self) -> Option<Vec<Cow<'a, str>>> {
        match self.facets.subtype {
            Subtype::MicrocompactBoundary => {
                self.object(self.facets.metadata).strings("cacheEdits")
            }
            _ => None,
        }
    }

    /// Whether this is a reply that begins with a summary of the provider's own (N3).
    pub(crate) fn begins_with_compaction(self) -> bool {
        let first = self.facets.blocks.first();
        self.facets.kind == super::EntryKind::Assistant
            && first.is_some_and(|block| {
                block.kind == super::BlockKind::Other
                    && self.object(block.span).string("type").as_deref() == Some("compaction")
            })
    }

    /// The text of that summary, if there is one.
    pub(crate) fn compaction_text(self) -> Option<Cow<'a, str>> {
        let first = self.facets.blocks.first()?;
        let text = self.object(first.span).string("content");
        text.filter(|_| self.begins_with_compaction())
    }

    /// Whether that summary is signed: it must then be the first block of all, and its beta must be asked for.
    pub(crate) fn is_signed_summary(self) -> bool {
        self.begins_with_compaction()
            && self
                .facets
                .blocks
                .first()
                .is_some_and(|block| self.object(block.span).string("signature").is_some())
    }

    fn id(self, span: ByteSpan) -> Option<Id> {
        span.is_present()
            .then(|| Id::of_literal(span.of(self.line)))
    }

    /// The entry's uuid.
    pub fn uuid(self) -> Option<Id> {
        self.id(self.facets.uuid)
    }

    /// The uuid of the entry before it in the conversation.
    pub fn parent(self) -> Option<Id> {
        self.id(self.facets.parent)
    }

    /// Across a boundary: the uuid of the entry before it in the conversation that was replaced.
    pub fn logical_parent(self) -> Option<Id> {
        self.id(self.facets.logical_parent)
    }

    /// The API message this is part of.
    pub fn message_id(self) -> Option<Id> {
        self.id(self.facets.message_id)
    }

    /// The tool call that a block makes or answers.
    pub fn block_id(self, block: &EntryBlock) -> Option<Id> {
        self.id(block.id)
    }

    /// When the entry was written.
    pub fn timestamp(self) -> Option<Timestamp> {
        std::str::from_utf8(self.facets.timestamp.of(self.line))
            .ok()?
            .parse()
            .ok()
    }

    /// For a clearing: the calls whose results, and the attachments, that are not sent any more.
    pub fn cleared(self) -> Vec<Id> {
        let metadata = self.object(self.facets.metadata);
        let listed = |key| metadata.strings(key).unwrap_or_default();
        let calls = listed("compactedToolIds");
        let attachments = listed("clearedAttachmentUUIDs");
        calls
            .iter()
            .chain(&attachments)
            .map(|id| Id::of(id))
            .collect()
    }

    /// The decoded text of a literal's content.
    pub fn text(self, span: ByteSpan) -> Cow<'a, str> {
        json::decode(span.of(self.line))
    }

    /// A part that is an object.
    pub fn object(self, span: ByteSpan) -> ObjectReader<'a> {
        ObjectReader::new(span.of(self.line))
    }
}

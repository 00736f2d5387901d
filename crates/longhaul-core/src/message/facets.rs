//! The facets of an entry: what one pass over its line found.

use std::borrow::Cow;

use jiff::Timestamp;

use super::{ByteSpan, EntryBlock, EntryFlags, EntryKind, Id, Subtype, Usage};
use crate::json::{self, ObjectReader};

/// The facets of one entry: spans into its line, and sizes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryFacets {
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The subtype, for a system entry.
    pub subtype: Subtype,
    /// The boolean facets.
    pub flags: EntryFlags,
    /// The content of the `uuid` literal. Entries without one are outside the parent chain.
    pub uuid: ByteSpan,
    /// The content of the `parentUuid` literal; also absent for `null`. A value of another type is here as it stands in the
    /// line: it is a parent that is not in the file.
    pub parent: ByteSpan,
    /// The content of the `logicalParentUuid` literal.
    pub logical_parent: ByteSpan,
    /// The content of the `sessionId` literal.
    pub session: ByteSpan,
    /// The content of the `timestamp` literal.
    pub timestamp: ByteSpan,
    /// The content of the `type` literal.
    pub type_name: ByteSpan,
    /// The content of the `message.id` literal.
    pub message_id: ByteSpan,
    /// The content of the `message.model` literal.
    pub model: ByteSpan,
    /// The `attachment` value, as JSON.
    pub attachment: ByteSpan,
    /// The UTF-16 units of the serialized `attachment` value.
    pub attachment_units: u32,
    /// The `compactMetadata`, `microcompactMetadata` or `undoMetadata` object, or the list `reducedResults` of a user
    /// entry, as JSON.
    pub metadata: ByteSpan,
    /// The message's content blocks.
    pub blocks: Vec<EntryBlock>,
    /// The reply's usage.
    pub usage: Option<Box<Usage>>,
}

impl EntryFacets {
    /// Combines these facets with the line they were taken from.
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
}

/// An entry's facets together with its bytes, for readers of an entry.
#[derive(Debug, Clone, Copy)]
pub struct EntryView<'a> {
    /// The facets.
    pub facets: &'a EntryFacets,
    /// The bytes.
    pub line: &'a [u8],
}

impl<'a> EntryView<'a> {
    /// For a record of cache edits (U4): the calls whose results every later request asks the provider to drop. Such an
    /// entry does not clear anything.
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

    /// Returns the text of the provider's own summary that the reply begins with, if there is one.
    pub(crate) fn compaction_text(self) -> Option<Cow<'a, str>> {
        let first = self.facets.blocks.first()?;
        let text = self.object(first.span).string("content");
        text.filter(|_| self.begins_with_compaction())
    }

    /// Whether the provider's own summary is signed. If so, it must be the very first block, and its beta must be
    /// requested.
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

    /// The uuid of the previous entry in the conversation.
    pub fn parent(self) -> Option<Id> {
        self.id(self.facets.parent)
    }

    /// The uuid of the previous entry in the conversation that a boundary replaced.
    pub fn logical_parent(self) -> Option<Id> {
        self.id(self.facets.logical_parent)
    }

    /// The id of the API message that this entry is part of.
    pub fn message_id(self) -> Option<Id> {
        self.id(self.facets.message_id)
    }

    /// The id of the tool call that a block makes or answers.
    pub fn block_id(self, block: &EntryBlock) -> Option<Id> {
        self.id(block.id)
    }

    /// The time at which the entry was written.
    pub fn timestamp(self) -> Option<Timestamp> {
        std::str::from_utf8(self.facets.timestamp.of(self.line))
            .ok()?
            .parse()
            .ok()
    }

    /// For a clearing: the calls whose results are no longer sent, and the attachments that are no longer sent.
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

    /// Returns the decoded text of a literal's content.
    pub fn text(self, span: ByteSpan) -> Cow<'a, str> {
        json::decode(span.of(self.line))
    }

    /// Returns a reader for a part that is an object.
    pub fn object(self, span: ByteSpan) -> ObjectReader<'a> {
        ObjectReader::new(span.of(self.line))
    }
}

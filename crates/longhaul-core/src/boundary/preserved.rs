//! The part that a compaction keeps word for word, as its boundary names it (P5, rulings 10 and 11).

use serde::Serialize;

use crate::hash::Map;
use crate::message::{EntryKind, EntryView, Id, Subtype};

/// The entry after which the kept entries are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreservedAnchor {
    /// The kept entries follow the summary (compaction up to a pivot).
    Summary,
    /// The kept entries follow the boundary and come before the summary (compaction from a pivot on).
    Boundary,
}

/// An entry of the part of the view that is kept.
#[derive(Debug, Clone, Copy)]
pub struct KeptEntry<'a> {
    /// The entry.
    pub entry: EntryView<'a>,
    /// Where the entry's line starts in the file.
    pub offset: u64,
}

/// The kept part of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreservedPart {
    anchor: PreservedAnchor,
    head: String,
    tail: String,
    uuids: Vec<String>,
    view_offset: u64,
}

impl PreservedPart {
    /// Builds the kept part from entries of the live view, in its order. Returns none if no entry of it counts.
    pub fn of<'a>(
        anchor: PreservedAnchor,
        entries: impl IntoIterator<Item = KeptEntry<'a>>,
    ) -> Option<Self> {
        let all: Vec<_> = entries.into_iter().collect();
        let entries: Vec<_> = all.iter().copied().filter(counts).collect();
        let (first, last) = (entries.first()?, entries.last()?);
        let text = |kept: &KeptEntry<'_>| kept.entry.text(kept.entry.facets.uuid).into_owned();
        let offsets = entries.iter().map(|kept| kept.offset);
        Some(Self {
            anchor,
            head: text(head_of(&all, last)),
            tail: text(last),
            uuids: entries.iter().map(text).collect(),
            view_offset: offsets.min().unwrap_or(first.offset),
        })
    }

    /// The number of entries that are named.
    pub fn len(&self) -> usize {
        self.uuids.len()
    }

    /// Always false: a kept part has at least one entry.
    pub fn is_empty(&self) -> bool {
        self.uuids.is_empty()
    }

    pub(super) fn view_offset(&self) -> u64 {
        self.view_offset
    }

    fn anchor_uuid<'a>(&self, boundary: &'a str, summary: &'a str) -> &'a str {
        match self.anchor {
            PreservedAnchor::Summary => summary,
            PreservedAnchor::Boundary => boundary,
        }
    }

    /// The two ends of the kept part, for readers that follow the chain from one to the other.
    pub(super) fn segment<'a>(
        &'a self,
        boundary: &'a str,
        summary: &'a str,
    ) -> PreservedSegmentFields<'a> {
        PreservedSegmentFields {
            head_uuid: &self.head,
            anchor_uuid: self.anchor_uuid(boundary, summary),
            tail_uuid: &self.tail,
        }
    }

    /// The list of kept entries, which takes precedence over the two ends. It needs no chain, so it also works across
    /// earlier boundaries and where a response has lines beside the chain.
    pub(super) fn messages<'a>(
        &'a self,
        boundary: &'a str,
        summary: &'a str,
    ) -> PreservedMessagesFields<'a> {
        PreservedMessagesFields {
            anchor_uuid: self.anchor_uuid(boundary, summary),
            uuids: &self.uuids,
        }
    }
}

/// The `preservedSegment` field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PreservedSegmentFields<'a> {
    head_uuid: &'a str,
    anchor_uuid: &'a str,
    tail_uuid: &'a str,
}

/// The `preservedMessages` field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PreservedMessagesFields<'a> {
    anchor_uuid: &'a str,
    uuids: &'a [String],
}

/// Whether the model sees an entry or the entry shapes what it sees. A boundary does not count: it would end the view
/// in its middle.
fn counts(kept: &KeptEntry<'_>) -> bool {
    shapes_the_view(kept.entry) && kept.entry.facets.subtype != Subtype::CompactBoundary
}

/// Whether the model sees an entry, or the entry changes what the model sees of others.
pub(super) fn shapes_the_view(entry: EntryView<'_>) -> bool {
    let facets = entry.facets;
    let seen = match facets.kind {
        EntryKind::User | EntryKind::Assistant | EntryKind::Attachment => true,
        // An undo has taken effect wherever it is; written again, it would undo what was done since. Cache edits apply
        // to one rendering only.
        EntryKind::System => {
            !matches!(facets.subtype, Subtype::Other | Subtype::CompactUndo)
                && entry.cache_edits().is_none()
        }
        EntryKind::Progress | EntryKind::Summary | EntryKind::Head | EntryKind::Other => false,
    };
    seen && facets.uuid.is_present()
}

/// The earliest entry that counts and that the plain chain reaches from the last one without leaving the kept part.
fn head_of<'a, 'b>(all: &'b [KeptEntry<'a>], last: &'b KeptEntry<'a>) -> &'b KeptEntry<'a> {
    let kept: Map<Id, &KeptEntry<'a>> = all
        .iter()
        .filter_map(|kept| Some((kept.entry.uuid()?, kept)))
        .collect();
    let (mut head, mut at) = (last, last);
    // No chain is longer than the list; a longer one would be a cycle.
    for _ in 0..all.len() {
        let Some(before) = at.entry.parent().and_then(|parent| kept.get(&parent)) else {
            break;
        };
        at = before;
        if counts(at) {
            head = at;
        }
    }
    head
}

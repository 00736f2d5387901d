//! Finds how far back a resume must read (M5): given lines from the end of a file, it says when the live view is
//! covered.
//!
//! It follows the parent chain from the newest leaf as the lines arrive. Usually the chain ends at the last boundary,
//! and nothing before it is needed; if a boundary preserved messages, these are needed too, and if a conversation was
//! rewound to before the boundary, its chain leads further back. The view itself is then resolved from the tail in the
//! usual way, so there is only one way of reading.

use super::table::fold_count;
use crate::hash::{Map, Set};
use crate::json::ObjectReader;
use crate::message::{EntryKind, EntryView, Id, Subtype};
use crate::report::LossReport;

/// Whether a resume has read enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeNeed {
    /// More is needed: supply the previous line.
    More,
    /// The live view begins at or after this byte offset.
    From(u64),
}

/// Follows a conversation backwards.
#[derive(Debug, Default)]
pub struct ResumeProbe {
    /// The parents of the entries seen so far, in case a parent is a later line.
    passed: Map<Id, PassedEntry>,
    /// Boundaries that a later undo takes back.
    undone: Set<Id>,
    /// Whether a summary was seen since the boundary after it, or since the end of the file.
    has_summary: bool,
    state: ResumeProbeState,
}

#[derive(Debug, Clone, Copy)]
struct PassedEntry {
    parent: Option<Id>,
    is_boundary: bool,
}

#[derive(Debug, Default)]
enum ResumeProbeState {
    /// No entry of the conversation has been found yet.
    #[default]
    Leaf,
    /// The chain continues with this entry.
    Chain(Id),
    /// The boundary has been reached, and these entries that it preserved have not been found yet.
    Preserved(Set<Id>),
    /// All entries have been found; lines of the response that the earliest belongs to may lie before it.
    Response(Option<Id>),
    /// Enough has been read.
    Done,
}

impl ResumeProbe {
    /// Creates a probe that has read nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the line before the previous one. `offset` is where it starts.
    pub fn line(&mut self, offset: u64, entry: EntryView<'_>) -> ResumeNeed {
        let facets = entry.facets;
        let Some(uuid) = entry.uuid().filter(|_| !facets.flags.sidechain) else {
            return ResumeNeed::More;
        };
        let is_boundary =
            facets.kind == EntryKind::System && facets.subtype == Subtype::CompactBoundary;
        self.has_summary |= facets.flags.compact_summary;
        if is_boundary && !std::mem::take(&mut self.has_summary) && is_ours(entry) {
            // A compaction that was cut short: what follows its boundary follows what came before it.
            self.passed.entry(uuid).or_insert(PassedEntry {
                parent: entry.logical_parent(),
                is_boundary: false,
            });
            return ResumeNeed::More;
        }
        // The first line with a uuid counts, and lines arrive last to first.
        self.passed.insert(
            uuid,
            PassedEntry {
                parent: entry.parent(),
                is_boundary,
            },
        );
        if facets.kind == EntryKind::System && facets.subtype == Subtype::CompactUndo {
            let boundary = entry.object(facets.metadata).string("boundaryUuid");
            self.undone
                .extend(boundary.map(|boundary| Id::of(&boundary)));
        }
        match &mut self.state {
            ResumeProbeState::Leaf if facets.kind == EntryKind::Progress => {
                return ResumeNeed::More;
            }
            ResumeProbeState::Leaf => self.state = ResumeProbeState::Chain(uuid),
            ResumeProbeState::Preserved(wanted) => {
                wanted.remove(&uuid);
                if is_boundary {
                    // A segment may hold entries that an earlier boundary had preserved.
                    wanted.extend(
                        preserved(entry)
                            .into_iter()
                            .filter(|id| !self.passed.contains_key(id)),
                    );
                }
                if wanted.is_empty() {
                    self.state = ResumeProbeState::Response(entry.message_id());
                }
                return ResumeNeed::More;
            }
            ResumeProbeState::Response(message) => {
                let answers = facets.kind == EntryKind::User
                    && !facets.blocks.is_empty()
                    && facets.blocks.iter().all(|block| block.id.is_present());
                let same = facets.kind == EntryKind::Assistant && entry.message_id() == *message;
                let in_between = !matches!(facets.kind, EntryKind::User | EntryKind::Assistant);
                if message.is_some() && (answers || same || in_between) {
                    return ResumeNeed::More;
                }
                self.state = ResumeProbeState::Done;
                return ResumeNeed::From(offset);
            }
            ResumeProbeState::Chain(_) | ResumeProbeState::Done => {}
        }
        self.follow(offset, uuid, entry, is_boundary)
    }

    fn follow(
        &mut self,
        offset: u64,
        uuid: Id,
        entry: EntryView<'_>,
        is_boundary: bool,
    ) -> ResumeNeed {
        let ResumeProbeState::Chain(mut wanted) = self.state else {
            return ResumeNeed::More;
        };
        if is_boundary {
            let kept = preserved(entry);
            // The chain reaches a boundary by its uuid, or by an entry that it preserved.
            let preserves = !self.undone.contains(&uuid) && kept.contains(&wanted);
            if wanted == uuid || preserves {
                return self.at_boundary(offset, entry, kept);
            }
        }
        let mut steps = 0;
        while let Some(passed) = self.passed.get(&wanted) {
            steps += 1;
            let start = match passed.parent {
                // The chain leads to a boundary that only an earlier line names, or it is a cycle: the whole file is
                // needed.
                _ if passed.is_boundary || steps > self.passed.len() => 0,
                Some(parent) => {
                    wanted = parent;
                    continue;
                }
                None => offset,
            };
            self.state = ResumeProbeState::Done;
            return ResumeNeed::From(start);
        }
        self.state = ResumeProbeState::Chain(wanted);
        ResumeNeed::More
    }

    fn at_boundary(&mut self, offset: u64, entry: EntryView<'_>, kept: Vec<Id>) -> ResumeNeed {
        if kept.is_empty() {
            self.state = ResumeProbeState::Done;
            return ResumeNeed::From(offset);
        }
        let metadata = entry.object(entry.facets.metadata);
        // Boundaries that Longhaul wrote record where their view begins.
        if let Some(start) = metadata
            .count("viewOffset")
            .filter(|start| *start <= offset)
        {
            self.state = ResumeProbeState::Done;
            return ResumeNeed::From(start);
        }
        let missing: Set<Id> = kept
            .into_iter()
            .filter(|id| !self.passed.contains_key(id))
            .collect();
        if missing.is_empty() {
            self.state = ResumeProbeState::Done;
            return ResumeNeed::From(offset);
        }
        self.state = ResumeProbeState::Preserved(missing);
        ResumeNeed::More
    }
}

/// Whether a boundary was written by Longhaul, and a summary has to follow it.
fn is_ours(boundary: EntryView<'_>) -> bool {
    let metadata = boundary.object(boundary.facets.metadata);
    LossReport::of_boundary(boundary).is_some() && fold_count(metadata).is_none()
}

/// Returns the entries that a boundary names as preserved: the list, and the segment's two ends.
fn preserved(boundary: EntryView<'_>) -> Vec<Id> {
    let metadata = boundary.object(boundary.facets.metadata);
    let listed = metadata
        .object("preservedMessages")
        .and_then(|messages| messages.strings("uuids"));
    let end = |segment: ObjectReader<'_>, key| segment.string(key).map(|uuid| Id::of(&uuid));
    let ends = metadata
        .object("preservedSegment")
        .map(|segment| [end(segment, "headUuid"), end(segment, "tailUuid")]);
    let listed = listed.into_iter().flatten().map(|uuid| Id::of(&uuid));
    listed.chain(ends.into_iter().flatten().flatten()).collect()
}

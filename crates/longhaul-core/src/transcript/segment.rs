//! Messages that a boundary preserved: they lie before it, but the model still sees them after it (P5, rulings 10 and
//! 11).
//!
//! On disk the preserved entries keep their old parents. Reading relinks them: the first follows the anchor, and
//! whatever else followed the anchor follows the last. Boundaries are relinked in file order, so a later segment may
//! hold entries that an earlier one had moved. An undo puts back the entries that its boundary had moved.

use super::chain::UuidChain;
use super::table::BoundaryNote;
use super::{TranscriptProblem, TranscriptProblemKind, TranscriptRow, TranscriptTable};
use crate::hash::{Map, Set};
use crate::message::Subtype;

/// The entries that one boundary preserved, in the order in which the model sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PreservedSegment {
    /// The boundary's row.
    pub(super) boundary: u32,
    /// The row after which the entries are placed.
    pub(super) anchor: u32,
    /// The preserved rows.
    pub(super) members: Vec<u32>,
}

/// A link that a boundary changed, or that an undo changed back.
#[derive(Debug, Clone, Copy)]
struct LinkChange {
    /// The row of the boundary or undo.
    by: u32,
    /// The row that the link leads to; `None` if an undo restored the plain chain.
    to: Option<u32>,
}

/// Returns where a link led after the newest boundary or undo before `time`; `None` if it followed the plain chain.
fn moved_by(moves: &Map<u32, Vec<LinkChange>>, row: u32, time: u32) -> Option<u32> {
    let moves = moves.get(&row)?.iter().rev();
    moves.copied().find(|step| step.by < time)?.to
}

/// The time at which all boundaries count.
pub(super) const NOW: u32 = u32::MAX;

/// The parents in the conversation, with preserved segments taken into account.
#[derive(Debug, Default)]
pub(super) struct ParentLinks {
    chain: UuidChain,
    /// For each member, the entry that is now before it, by the boundary that moved it, oldest first.
    moved: Map<u32, Vec<LinkChange>>,
    /// For each anchor, the last member of the segment after it, by the boundary that moved it, oldest first.
    behind: Map<u32, Vec<LinkChange>>,
    segments: Vec<PreservedSegment>,
}

impl ParentLinks {
    pub(super) fn resolve(
        table: &TranscriptTable,
        main: &[bool],
        problems: &mut Vec<TranscriptProblem>,
    ) -> Self {
        let mut links = Self {
            chain: UuidChain::resolve(table, problems),
            ..Self::default()
        };
        for note in table.boundaries() {
            if !main[note.row as usize] || links.chain.is_left_out(note.row) {
                continue;
            }
            match table.rows()[note.row as usize].subtype {
                Subtype::CompactBoundary => links.preserve(table.rows(), note, problems),
                Subtype::CompactUndo => links.put_back(note),
                Subtype::MicrocompactBoundary | Subtype::Other => {}
            }
        }
        links
    }

    pub(super) fn chain(&self) -> &UuidChain {
        &self.chain
    }

    pub(super) fn segments(&self) -> &[PreservedSegment] {
        &self.segments
    }

    /// Whether a row is placed where a boundary before `time` preserved it.
    pub(super) fn is_preserved(&self, row: u32, time: u32) -> bool {
        moved_by(&self.moved, row, time).is_some()
    }

    /// Returns the entry before this one in the conversation, as it was before the boundary at row `time`.
    pub(super) fn parent(&self, row: u32, time: u32) -> Option<u32> {
        moved_by(&self.moved, row, time).or_else(|| {
            let parent = self.chain.parent(row)?;
            Some(self.last_placed_after(parent, time))
        })
    }

    /// Returns the last entry of the segment that is placed after this one, or this one if there is none.
    pub(super) fn last_placed_after(&self, row: u32, time: u32) -> u32 {
        moved_by(&self.behind, row, time).unwrap_or(row)
    }

    fn preserve(
        &mut self,
        rows: &[TranscriptRow],
        note: &BoundaryNote,
        problems: &mut Vec<TranscriptProblem>,
    ) {
        let mut report = |message: String| {
            let line = rows[note.row as usize].line;
            problems.push(TranscriptProblem::new(
                line,
                TranscriptProblemKind::BrokenSegment,
                message,
            ));
        };
        let find = |id| self.chain.find(id);
        let [head, segment_anchor, tail] = note.segment.unwrap_or_default();
        let summary = || self.summary_after(rows, note.row);
        let (anchor, members) = match &note.preserved {
            // The list of messages takes precedence over the segment's two ends.
            Some(uuids) => {
                let members: Vec<u32> = uuids.iter().filter_map(|uuid| find(*uuid)).collect();
                let missing = uuids.len() - members.len();
                if missing > 0 {
                    report(format!(
                        "{missing} of {} preserved messages are not in the file",
                        uuids.len()
                    ));
                }
                let named = note.preserved_anchor.or(segment_anchor);
                (named.and_then(find).or_else(summary), members)
            }
            None => {
                if note.segment.is_none() {
                    return;
                }
                let ends = head.and_then(find).zip(tail.and_then(find));
                let members = ends.and_then(|(head, tail)| self.between(head, tail));
                match (segment_anchor.and_then(find), members) {
                    (Some(anchor), Some(members)) => (Some(anchor), members),
                    _ => {
                        report(
                            "its preserved segment cannot be followed from tail to head; left out"
                                .to_owned(),
                        );
                        return;
                    }
                }
            }
        };
        let Some(anchor) = anchor else {
            report("the place of its preserved messages is not in the file; left out".to_owned());
            return;
        };
        if !members.is_empty() {
            self.relink(PreservedSegment {
                boundary: note.row,
                anchor,
                members,
            });
        }
    }

    /// Returns the rows from `head` to `tail`, followed backwards.
    fn between(&self, head: u32, tail: u32) -> Option<Vec<u32>> {
        let mut members = vec![tail];
        let mut seen = Set::default();
        while let Some(last) = members.last().copied()
            && last != head
        {
            if !seen.insert(last) {
                return None;
            }
            members.push(self.parent(last, NOW)?);
        }
        members.reverse();
        Some(members)
    }

    /// Returns the summary that follows a boundary in the file.
    fn summary_after(&self, rows: &[TranscriptRow], boundary: u32) -> Option<u32> {
        (boundary..rows.len() as u32).find(|row| rows[*row as usize].flags.compact_summary)
    }

    fn relink(&mut self, segment: PreservedSegment) {
        let boundary = segment.boundary;
        let mut before = segment.anchor;
        for member in &segment.members {
            let step = LinkChange {
                by: boundary,
                to: Some(before),
            };
            self.moved.entry(*member).or_default().push(step);
            before = *member;
        }
        let step = LinkChange {
            by: boundary,
            to: Some(before),
        };
        self.behind.entry(segment.anchor).or_default().push(step);
        self.segments.push(segment);
    }

    /// Undoes a boundary: the entries that it preserved return to their previous places.
    fn put_back(&mut self, note: &BoundaryNote) {
        let boundary = note.undoes.and_then(|uuid| self.chain.find(uuid));
        let mut segments = self.segments.iter();
        let Some(segment) = segments.find(|segment| Some(segment.boundary) == boundary) else {
            return;
        };
        let put_back = |moves: &mut Map<u32, Vec<LinkChange>>, row: u32| {
            let to = moved_by(moves, row, segment.boundary);
            moves
                .entry(row)
                .or_default()
                .push(LinkChange { by: note.row, to });
        };
        for member in &segment.members {
            put_back(&mut self.moved, *member);
        }
        put_back(&mut self.behind, segment.anchor);
    }
}

//! Resolves parents: which entry each entry follows (M4, ruling 8).
//!
//! If a parent is not in the file, or a chain leads back to itself, the entry follows the one before it in the file
//! instead, so that every entry stays reachable (Y8).

use super::{TranscriptProblem, TranscriptProblemKind, TranscriptRow};
use crate::hash::Map;
use crate::message::Id;

/// The rows of a table linked by uuid.
#[derive(Debug, Default)]
pub(super) struct UuidChain {
    index: Map<Id, u32>,
    parents: Vec<Option<u32>>,
    /// Rows that repeat an earlier uuid. They are entries of the file, but not of the conversation.
    repeated: Vec<bool>,
}

impl UuidChain {
    pub(super) fn resolve(rows: &[TranscriptRow], problems: &mut Vec<TranscriptProblem>) -> Self {
        let mut chain = Self {
            index: Map::with_capacity_and_hasher(rows.len(), Default::default()),
            parents: vec![None; rows.len()],
            repeated: vec![false; rows.len()],
        };
        chain.find_uuids(rows, problems);
        chain.find_parents(rows, problems);
        chain.cut_cycles(rows, problems);
        chain
    }

    /// Returns the row with this uuid; if the uuid is repeated, the first one.
    pub(super) fn find(&self, uuid: Id) -> Option<u32> {
        self.index.get(&uuid).copied()
    }

    pub(super) fn parent(&self, row: u32) -> Option<u32> {
        self.parents[row as usize]
    }

    pub(super) fn is_repeated(&self, row: u32) -> bool {
        self.repeated[row as usize]
    }

    fn find_uuids(&mut self, rows: &[TranscriptRow], problems: &mut Vec<TranscriptProblem>) {
        for (at, row) in rows.iter().enumerate() {
            let Some(uuid) = row.uuid else { continue };
            let first = *self.index.entry(uuid).or_insert(at as u32);
            if first != at as u32 {
                self.repeated[at] = true;
                let message = format!(
                    "line {} has the same uuid and is used instead",
                    rows[first as usize].line
                );
                problems.push(TranscriptProblem::new(
                    row.line,
                    TranscriptProblemKind::DuplicateUuid,
                    message,
                ));
            }
        }
    }

    fn find_parents(&mut self, rows: &[TranscriptRow], problems: &mut Vec<TranscriptProblem>) {
        for (at, row) in rows.iter().enumerate() {
            let (Some(_), Some(parent)) = (row.uuid, row.parent) else {
                continue;
            };
            if self.repeated[at] {
                continue;
            }
            self.parents[at] = self.find(parent);
            if self.parents[at].is_none() {
                self.parents[at] = self.entry_before(rows, at);
                let message =
                    fallback_message("its parent is not in the file", rows, self.parents[at]);
                problems.push(TranscriptProblem::new(
                    row.line,
                    TranscriptProblemKind::DanglingParent,
                    message,
                ));
            }
        }
    }

    /// Returns the nearest earlier entry of the same conversation: the main one or the sub-agents'.
    fn entry_before(&self, rows: &[TranscriptRow], at: usize) -> Option<u32> {
        let sidechain = rows[at].flags.sidechain;
        (0..at)
            .rev()
            .find(|before| {
                let row = &rows[*before];
                row.uuid.is_some() && row.flags.sidechain == sidechain && !self.repeated[*before]
            })
            .map(|before| before as u32)
    }

    /// Follows every chain once. A cycle is cut at its earliest line, whose parent can only be a later one.
    fn cut_cycles(&mut self, rows: &[TranscriptRow], problems: &mut Vec<TranscriptProblem>) {
        #[derive(Clone, Copy, PartialEq)]
        enum VisitState {
            New,
            OnPath,
            Done,
        }
        let mut marks = vec![VisitState::New; rows.len()];
        let mut path: Vec<u32> = Vec::new();
        for start in 0..rows.len() as u32 {
            let mut next = Some(start);
            while let Some(row) = next {
                match marks[row as usize] {
                    VisitState::Done => break,
                    VisitState::New => {
                        marks[row as usize] = VisitState::OnPath;
                        path.push(row);
                        next = self.parents[row as usize];
                    }
                    VisitState::OnPath => {
                        let from = path.iter().position(|on| *on == row).unwrap_or(0);
                        let cycle = &path[from..];
                        let first = cycle.iter().copied().min().unwrap_or(row);
                        let fallback = self.entry_before(rows, first as usize);
                        self.parents[first as usize] = fallback;
                        let message = fallback_message(
                            &format!(
                                "its parent chain leads back to itself over {} lines",
                                cycle.len()
                            ),
                            rows,
                            fallback,
                        );
                        let line = rows[first as usize].line;
                        problems.push(TranscriptProblem::new(
                            line,
                            TranscriptProblemKind::CyclicParent,
                            message,
                        ));
                        // Rows above the cut are walked again, from their own start.
                        let keep = path.iter().position(|on| *on == first).unwrap_or(from) + 1;
                        for above in path.drain(keep..) {
                            marks[above as usize] = VisitState::New;
                        }
                        next = fallback;
                    }
                }
            }
            for done in path.drain(..) {
                marks[done as usize] = VisitState::Done;
            }
        }
    }
}

fn fallback_message(what: &str, rows: &[TranscriptRow], fallback: Option<u32>) -> String {
    match fallback {
        Some(row) => format!("{what}; read as following line {}", rows[row as usize].line),
        None => format!("{what}; read as the first of the conversation"),
    }
}

//! Resolves parents: which entry each entry follows (M4, ruling 8).
//!
//! If a parent is not in the file, or a chain leads back to itself, the entry follows the one before it in the file
//! instead, so that every entry stays reachable (Y8). What follows a compaction that was cut short follows what came
//! before it.

use super::{TranscriptProblem, TranscriptProblemKind, TranscriptRow, TranscriptTable};
use crate::hash::Map;
use crate::message::Id;

/// The rows of a table linked by uuid.
#[derive(Debug, Default)]
pub(super) struct UuidChain {
    index: Map<Id, u32>,
    parents: Vec<Option<u32>>,
    /// Rows that repeat an earlier uuid, and boundaries of compactions that were cut short. They are entries of the file,
    /// but not of the conversation.
    left_out: Vec<bool>,
}

impl UuidChain {
    pub(super) fn resolve(table: &TranscriptTable, problems: &mut Vec<TranscriptProblem>) -> Self {
        let rows = table.rows();
        let mut chain = Self {
            index: Map::with_capacity_and_hasher(rows.len(), Default::default()),
            parents: vec![None; rows.len()],
            left_out: vec![false; rows.len()],
        };
        for note in table.incomplete_compactions() {
            chain.left_out[note.row as usize] = true;
        }
        chain.find_uuids(rows, problems);
        chain.find_parents(rows, problems);
        chain.bypass_incomplete_compactions(table, problems);
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

    /// Whether a row is no entry of the conversation.
    pub(super) fn is_left_out(&self, row: u32) -> bool {
        self.left_out[row as usize]
    }

    fn find_uuids(&mut self, rows: &[TranscriptRow], problems: &mut Vec<TranscriptProblem>) {
        for (at, row) in rows.iter().enumerate() {
            let Some(uuid) = row.uuid else { continue };
            // A compaction that was cut short may have been written again.
            if self.left_out[at] {
                continue;
            }
            let first = *self.index.entry(uuid).or_insert(at as u32);
            if first != at as u32 {
                self.left_out[at] = true;
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
            if self.left_out[at] {
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

    /// Reports the compactions that were cut short. What follows their boundaries was read as dangling, and follows what
    /// came before them.
    fn bypass_incomplete_compactions(
        &mut self,
        table: &TranscriptTable,
        problems: &mut Vec<TranscriptProblem>,
    ) {
        let rows = table.rows();
        for note in table.incomplete_compactions() {
            let row = &rows[note.row as usize];
            problems.push(TranscriptProblem::new(
                row.line,
                TranscriptProblemKind::IncompleteCompaction,
                "a compaction was cut short before its summary was written; it does not count, and the conversation is as it was before it",
            ));
            let Some(uuid) = row.uuid.filter(|uuid| self.find(*uuid).is_none()) else {
                continue;
            };
            let before = note.logical_parent.and_then(|uuid| self.find(uuid));
            let before = before.or_else(|| self.entry_before(rows, note.row as usize));
            for (at, row) in rows.iter().enumerate() {
                if row.parent == Some(uuid) && !self.left_out[at] {
                    self.parents[at] = before;
                    let line = row.line;
                    problems.retain(|problem| {
                        problem.line != line
                            || problem.kind != TranscriptProblemKind::DanglingParent
                    });
                }
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
                row.uuid.is_some() && row.flags.sidechain == sidechain && !self.left_out[*before]
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

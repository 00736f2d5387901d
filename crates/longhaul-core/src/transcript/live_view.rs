//! The live view: the entries that the model still sees (M5, M6, ruling 8).
//!
//! The view consists of the parent chain from the newest leaf back to the last boundary, and of lines that belong to
//! the chain although it does not pass through them: other lines of the same responses and the results of their calls.

use std::ops::Range;

use super::segment::ParentLinks;
use super::{TranscriptRow, TranscriptTable};
use crate::hash::{Map, Set};
use crate::message::{BlockKind, EntryKind, Id, Subtype};

/// The rows the model sees, in the order in which it sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveView {
    /// The boundary that the view begins with, if any. It is also the first of `rows`.
    pub boundary: Option<u32>,
    /// The rows, boundary included.
    pub rows: Vec<u32>,
    preserved: Set<u32>,
}

impl LiveView {
    /// Whether a row is in the view because a boundary preserved it or a line of the same response.
    pub(crate) fn is_preserved(&self, row: u32) -> bool {
        self.preserved.contains(&row)
    }
}

/// How many lines before a view are searched for other lines of its first response; they lie close together.
const RESPONSE_SPAN: u32 = 1_000;

/// Finds views in a table whose links are resolved.
#[derive(Clone, Copy)]
pub(super) struct ViewFinder<'a> {
    pub(super) table: &'a TranscriptTable,
    /// For each row, whether it belongs to the main conversation.
    pub(super) main: &'a [bool],
    pub(super) links: &'a ParentLinks,
    /// Views are resolved as they were before the boundary at this row.
    pub(super) time: u32,
}

impl<'a> ViewFinder<'a> {
    /// Returns the view that ends with the newest entry of the main conversation.
    pub(super) fn newest(self) -> LiveView {
        let end = self.table.rows().len() as u32;
        let leaf = self.newest_before(end);
        leaf.map_or_else(LiveView::default, |leaf| self.ending_in(leaf, end))
    }

    /// Returns the newest entry of the main conversation before a row.
    pub(super) fn newest_before(self, end: u32) -> Option<u32> {
        let rows = self.table.rows();
        (0..end)
            .rev()
            .find(|at| rows[*at as usize].uuid.is_some() && self.may_end_a_view(*at))
    }

    /// Whether a row can be a leaf: it belongs to the main conversation and is not mere progress.
    fn may_end_a_view(self, at: u32) -> bool {
        self.main[at as usize]
            && self.table.rows()[at as usize].kind != EntryKind::Progress
            && !self.links.chain().is_left_out(at)
    }

    /// Returns the view that ends with this row, as it was while the file ended before the row `end`.
    pub(super) fn ending_in(self, leaf: u32, end: u32) -> LiveView {
        let rows = self.table.rows();
        let leaf = self.links.last_placed_after(leaf, self.time);
        let mut view = vec![leaf];
        let mut on_chain = Set::default();
        on_chain.insert(leaf);
        let mut first = leaf;
        let mut boundary = None;
        loop {
            if rows[first as usize].subtype == Subtype::CompactBoundary {
                boundary = Some(first);
                break;
            }
            match self.links.parent(first, self.time) {
                // Damaged segments may close a cycle that the plain chain does not have.
                Some(parent) if on_chain.insert(parent) => {
                    view.push(parent);
                    first = parent;
                }
                _ => break,
            }
        }
        view.reverse();
        // A damaged file may lead through a sub-agent's entries, which are never part of the main view.
        view.retain(|at| self.main[*at as usize]);
        let first = view.iter().copied().min().unwrap_or(leaf);
        let near = first.saturating_sub(RESPONSE_SPAN)..end;
        let strays = self.strays(&view, &on_chain, near);
        let kept = |at: &u32| self.links.is_preserved(*at, self.time);
        let with_kept = strays
            .iter()
            .filter(|(_, home)| kept(home))
            .map(|(at, _)| *at);
        LiveView {
            boundary,
            preserved: view.iter().copied().filter(kept).chain(with_kept).collect(),
            rows: merged(rows, view, strays),
        }
    }

    /// Returns rows off the chain that belong to a response on it, each with the row of the view that it belongs to.
    fn strays(self, view: &[u32], on_chain: &Set<u32>, near: Range<u32>) -> Vec<(u32, u32)> {
        let rows = self.table.rows();
        let mut responses: Map<Id, u32> = Map::default();
        let mut answered: Set<Id> = Set::default();
        for at in view {
            let row = &rows[*at as usize];
            match response(row) {
                Some(message) => {
                    responses.entry(message).or_insert(*at);
                }
                None => answered.extend(self.answers(row)),
            }
        }
        let off_chain = |at: u32| {
            self.main[at as usize] && !on_chain.contains(&at) && !self.links.chain().is_left_out(at)
        };
        // The other lines of each response come first, then the results of all its calls.
        let mut strays = Vec::new();
        let mut calls: Map<Id, u32> = Map::default();
        for at in near.clone() {
            let row = &rows[at as usize];
            let Some(home) = response(row).and_then(|message| responses.get(&message).copied())
            else {
                continue;
            };
            if off_chain(at) {
                strays.push((at, home));
            } else if !on_chain.contains(&at) {
                continue;
            }
            let blocks = self.table.blocks(row).iter();
            let made = blocks.filter(|block| block.kind == BlockKind::ToolUse);
            calls.extend(made.filter_map(|block| block.call).map(|call| (call, home)));
        }
        for at in near {
            let row = &rows[at as usize];
            if row.kind != EntryKind::User || !off_chain(at) {
                continue;
            }
            // The conversation continued with the result on the chain; any other belongs to an abandoned branch.
            let home = self
                .answers(row)
                .filter(|call| !answered.contains(call))
                .find_map(|call| calls.get(&call).copied());
            if let Some(home) = home {
                answered.extend(self.answers(row));
                strays.push((at, home));
            }
        }
        strays
    }

    /// Returns the calls that a row answers.
    fn answers(self, row: &'a TranscriptRow) -> impl Iterator<Item = Id> + 'a {
        let blocks = self.table.blocks(row).iter();
        blocks
            .filter(|block| block.kind == BlockKind::ToolResult)
            .filter_map(|block| block.call)
    }
}

/// Returns the response that a row is a line of.
fn response(row: &TranscriptRow) -> Option<Id> {
    row.message.filter(|_| row.kind == EntryKind::Assistant)
}

/// Inserts strays among the rows of the run that they belong to, in file order. A run is a stretch of the view in which
/// lines ascend: the rows that a boundary preserved are one run, those after the boundary another.
fn merged(rows: &[TranscriptRow], view: Vec<u32>, strays: Vec<(u32, u32)>) -> Vec<u32> {
    if strays.is_empty() {
        return view;
    }
    let mut runs: Vec<Vec<u32>> = Vec::new();
    let mut run_of: Map<u32, usize> = Map::default();
    for at in view {
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|last| *last < at) => run.push(at),
            _ => runs.push(vec![at]),
        }
        run_of.insert(at, runs.len() - 1);
    }
    for (stray, home) in strays {
        if let Some(run) = run_of.get(&home) {
            runs[*run].push(stray);
        }
    }
    for run in &mut runs {
        // A boundary stays first even if a line of a response that it cut lies before it.
        let is_boundary = |at: u32| rows[at as usize].subtype == Subtype::CompactBoundary;
        run.sort_unstable_by_key(|at| (!is_boundary(*at), *at));
    }
    runs.concat()
}

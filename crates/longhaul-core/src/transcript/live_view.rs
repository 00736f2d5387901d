//! The live view: what the model still sees (M5, M6, ruling 8).
//!
//! The parent chain from the newest leaf back to the last boundary, and the lines that the chain does not pass
//! through but that belong to it: other lines of the same responses and the results of their calls.

use std::ops::Range;

use super::segment::Links;
use super::{Row, Table};
use crate::hash::{Map, Set};
use crate::message::{BlockKind, EntryKind, Id, Subtype};

/// The rows the model sees, in the order in which it sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveView {
    /// The boundary it begins with, if any. It is the first of `rows` too.
    pub boundary: Option<u32>,
    /// The rows, boundary included.
    pub rows: Vec<u32>,
}

impl LiveView {
    /// The view that ends in the newest entry of the main conversation.
    pub(super) fn newest(table: &Table, main: &[bool], links: &Links) -> Self {
        let rows = table.rows();
        let leaf = (0..rows.len() as u32).rev().find(|row| {
            let entry = &rows[*row as usize];
            let in_chain = entry.uuid.is_some() && !links.chain().is_repeated(*row);
            in_chain && main[*row as usize] && entry.kind != EntryKind::Progress
        });
        leaf.map_or_else(Self::default, |leaf| {
            Self::ending_in(leaf, table, main, links)
        })
    }

    /// The view that ends in this row.
    pub(super) fn ending_in(leaf: u32, table: &Table, main: &[bool], links: &Links) -> Self {
        let rows = table.rows();
        let mut view = vec![leaf];
        let mut seen = Set::default();
        seen.insert(leaf);
        let mut boundary = None;
        loop {
            let first = view[view.len() - 1];
            if rows[first as usize].subtype == Subtype::CompactBoundary {
                boundary = Some(first);
                break;
            }
            match links.parent(first) {
                // Damaged segments may close a circle that the plain chain does not have.
                Some(parent) if seen.insert(parent) => view.push(parent),
                _ => break,
            }
        }
        view.reverse();
        let strays = strays(table, known, main, links, &view, &seen);
        Self {
            boundary,
            rows: merged(rows, view, strays),
        }
    }
}

/// Rows off the chain that belong to a response on it, each with the row of the view that it belongs to.
fn strays(
    table: &Table,
    main: &[bool],
    links: &Links,
    view: &[u32],
    on_chain: &Set<u32>,
) -> Vec<(u32, u32)> {
    let rows = table.rows();
    let mut responses: Map<Id, u32> = Map::default();
    let mut answered: Set<Id> = Set::default();
    for at in view {
        let row = &rows[*at as usize];
        match (row.kind, row.message) {
            (EntryKind::Assistant, Some(message)) => {
                responses.entry(message).or_insert(*at);
            }
            _ => answered.extend(results(table, row)),
        }
    }
    let candidate =
        |at: u32| main[at as usize] && !on_chain.contains(&at) && !links.chain().is_repeated(at);
    // First the other lines of each response, then the results of all its calls.
    let mut strays = Vec::new();
    let mut calls: Map<Id, u32> = Map::default();
    for (at, row) in known.clone().zip(&rows[known.start as usize..]) {
        let response = row.message.filter(|_| row.kind == EntryKind::Assistant);
        let Some(home) = response.and_then(|message| responses.get(&message).copied()) else {
            continue;
        };
        if candidate(at) {
            strays.push((at, home));
        }
        if candidate(at) || on_chain.contains(&at) {
            let made = table
                .blocks(row)
                .iter()
                .filter(|block| block.kind == BlockKind::ToolUse);
            calls.extend(made.filter_map(|block| block.call).map(|call| (call, home)));
        }
    }
    for (at, row) in known.clone().zip(&rows[known.start as usize..]) {
        if row.kind != EntryKind::User || !candidate(at) {
            continue;
        }
        // A result on the chain is the one the conversation went on with; another is of an abandoned branch.
        let home = results(table, row)
            .filter(|call| !answered.contains(call))
            .find_map(|call| calls.get(&call).copied());
        if let Some(home) = home {
            answered.extend(results(table, row));
            strays.push((at, home));
        }
    }
    strays
}

/// The calls that a row answers.
fn results<'a>(table: &'a Table, row: &Row) -> impl Iterator<Item = Id> + 'a {
    table
        .blocks(row)
        .iter()
        .filter(|block| block.kind == BlockKind::ToolResult)
        .filter_map(|block| block.call)
}

/// Puts strays among the rows of the run that they belong to, in file order. A run is a stretch of the view in
/// which lines ascend: what a boundary preserved is one, what follows the boundary another.
fn merged(rows: &[Row], view: Vec<u32>, strays: Vec<(u32, u32)>) -> Vec<u32> {
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
        run.sort_unstable_by_key(|at| {
            (rows[*at as usize].subtype != Subtype::CompactBoundary, *at)
        });
    }
    runs.concat()
}

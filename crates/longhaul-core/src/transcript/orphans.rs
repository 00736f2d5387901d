//! Tool calls without results and results without calls (ruling 9).

use super::segment::Links;
use super::{Problem, ProblemKind, Table};
use crate::hash::{Map, Set};
use crate::message::{BlockKind, Id};

pub(super) fn find(table: &Table, main: &[bool], links: &Links, problems: &mut Vec<Problem>) {
    let rows = table.rows();
    let counted = |at: usize| main[at] && !links.chain().is_repeated(at as u32);
    let blocks = |kind: BlockKind| {
        rows.iter()
            .enumerate()
            .filter(move |(at, _)| counted(*at))
            .flat_map(move |(at, row)| {
                let of_kind = table
                    .blocks(row)
                    .iter()
                    .filter(move |block| block.kind == kind);
                of_kind
                    .filter_map(|block| block.call)
                    .map(move |call| (call, at))
            })
    };
    let calls: Set<Id> = blocks(BlockKind::ToolUse).map(|(call, _)| call).collect();
    let results: Map<Id, usize> = blocks(BlockKind::ToolResult).collect();
    for (call, at) in blocks(BlockKind::ToolResult) {
        if !calls.contains(&call) {
            let message = "a tool result whose call is not in the file";
            problems.push(Problem::new(
                rows[at].line,
                ProblemKind::OrphanResult,
                message,
            ));
        }
    }
    let continued = continued(table, main, links);
    for (call, at) in blocks(BlockKind::ToolUse) {
        if !results.contains_key(&call) && continued[at] {
            let message = "a tool call without a result, though the conversation went on";
            problems.push(Problem::new(
                rows[at].line,
                ProblemKind::OrphanCall,
                message,
            ));
        }
    }
}

/// For each row, whether another response came after it on its own branch. The last response of a branch, the
/// newest or an abandoned one, may still have been waiting for its results.
fn continued(table: &Table, main: &[bool], links: &Links) -> Vec<bool> {
    let rows = table.rows();
    let mut continued = vec![false; rows.len()];
    let mut with_later_response: Set<Id> = Set::default();
    for (at, row) in rows.iter().enumerate().rev() {
        if !main[at] {
            continue;
        }
        // All lines of a response have been followed if one has.
        if let Some(message) = row.message {
            if continued[at] {
                with_later_response.insert(message);
            } else if with_later_response.contains(&message) {
                continued[at] = true;
            }
        }
        if let Some(parent) = links.chain().parent(at as u32) {
            let parent = parent as usize;
            let other_response = row.message.is_some() && row.message != rows[parent].message;
            continued[parent] |= continued[at] || other_response;
        }
    }
    continued
}

//! Finds tool calls without results and results without calls (ruling 9).

use super::segment::ParentLinks;
use super::{TranscriptProblem, TranscriptProblemKind, TranscriptTable};
use crate::hash::Set;
use crate::message::{BlockKind, Id, Subtype};

pub(super) fn find(
    table: &TranscriptTable,
    main: &[bool],
    links: &ParentLinks,
    problems: &mut Vec<TranscriptProblem>,
) {
    let rows = table.rows();
    let counted = |at: usize| main[at] && !links.chain().is_left_out(at as u32);
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
    let results: Set<Id> = blocks(BlockKind::ToolResult)
        .map(|(call, _)| call)
        .collect();
    for (call, at) in blocks(BlockKind::ToolResult) {
        if !calls.contains(&call) {
            let message = "a tool result whose call is not in the file";
            problems.push(TranscriptProblem::new(
                rows[at].line,
                TranscriptProblemKind::OrphanResult,
                message,
            ));
        }
    }
    let later = later_responses(table, main, links);
    // If one line of a response was followed by another response, the whole response was.
    let lines = rows.iter().zip(&later);
    let followed: Set<Id> = lines
        .filter(|(row, later)| later.other_than(row.message))
        .filter_map(|(row, _)| row.message)
        .collect();
    for (call, at) in blocks(BlockKind::ToolUse) {
        let row = &rows[at];
        let went_on = row.message.map_or_else(
            || later[at].other_than(None),
            |message| followed.contains(&message),
        );
        if went_on && !results.contains(&call) {
            let message = "a tool call without a result, though the conversation went on";
            problems.push(TranscriptProblem::new(
                row.line,
                TranscriptProblemKind::OrphanCall,
                message,
            ));
        }
    }
}

/// The responses that came after an entry on its own branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LaterResponses {
    None,
    /// There is only this response, possibly the one that the entry is a line of.
    Only(Option<Id>),
    Several,
}

impl LaterResponses {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, one) | (one, Self::None) => one,
            (one, other) if one == other => one,
            _ => Self::Several,
        }
    }

    /// Whether the conversation continued beyond this response. The last response of a branch, whether the newest or an
    /// abandoned one, may still have been waiting for its results.
    fn other_than(self, message: Option<Id>) -> bool {
        match self {
            Self::None => false,
            Self::Only(later) => later != message,
            Self::Several => true,
        }
    }
}

fn later_responses(
    table: &TranscriptTable,
    main: &[bool],
    links: &ParentLinks,
) -> Vec<LaterResponses> {
    let rows = table.rows();
    let mut later = vec![LaterResponses::None; rows.len()];
    for (at, row) in rows.iter().enumerate().rev() {
        if !main[at] {
            continue;
        }
        if let Some(parent) = links.chain().parent(at as u32) {
            let own = if row.is_reply() {
                LaterResponses::Only(row.message)
            } else {
                LaterResponses::None
            };
            later[parent as usize] = later[parent as usize].and(later[at]).and(own);
        }
        // A conversation continues across a boundary.
        if row.subtype == Subtype::CompactBoundary {
            let named = table
                .boundary(at as u32)
                .and_then(|note| note.logical_parent);
            let before = || (0..at).rev().find(|at| main[*at] && rows[*at].is_sent());
            let last = named
                .and_then(|uuid| links.chain().find(uuid))
                .map(|at| at as usize)
                .or_else(before);
            if let Some(last) = last {
                later[last] = later[last].and(later[at]);
            }
        }
    }
    later
}
